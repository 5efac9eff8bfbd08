import type { Address, Client, Hex } from 'viem'
import { isTrue, isWord } from '../reads/answers.js'
import { UnsupportedTokenError } from '../reads/errors.js'
import { authorizationStateCall } from '../reads/getAuthorizationState.js'
import { prober } from '../reads/getToken.js'
import { runCalls } from '../reads/runCalls.js'
import { runPlainCalls } from '../reads/runPlainCalls.js'
import type { RunHead } from '../reads/types.js'
import type { Scope } from '../store/types.js'
import type { OrderAttempt } from './findEvidence.js'

/** Nonces asked about in one request, for nodes that cap the gas of a call. */
const chunkSize = 150

/**
 * Which of many nonces are spent at one block, with its time, in one request
 * for each 150. Attempts without a payer are left out.
 *
 * Does not tell what spent them: `findEvidence` does.
 *
 * @throws {@link UnsupportedTokenError} when the token has no such state.
 * @throws {@link NodeError} when the node does not answer.
 */
export async function findOpen(
  client: Client,
  { token }: Pick<Scope, 'token'>,
  files: readonly OrderAttempt[],
  block: bigint,
): Promise<{ spent: ReadonlySet<Hex>; head: RunHead | undefined }> {
  const asked = files.flatMap(({ order, attempt }) => {
    const payer = attempt.payer ?? order.payer
    return payer ? [{ payer, nonce: attempt.nonce }] : []
  })
  const chunks = Array.from(
    { length: Math.ceil(asked.length / chunkSize) },
    (_, at) => asked.slice(at * chunkSize, (at + 1) * chunkSize),
  )
  const answers = await Promise.all(
    chunks.map((chunk) => askChunk(client, token, chunk, block)),
  )
  const spent = answers.flatMap((answer) => answer.spent)
  return { spent: new Set(spent), head: answers[0]?.head }
}

async function askChunk(
  client: Client,
  token: Address,
  asked: readonly { payer: Address; nonce: Hex }[],
  block: bigint,
): Promise<{ spent: Hex[]; head: RunHead }> {
  const { head, calls } = await runCalls(client, {
    from: prober,
    fallback: runPlainCalls,
    calls: Object.fromEntries(
      asked.map(({ payer, nonce }) => [
        nonce,
        authorizationStateCall(token, payer, nonce),
      ]),
    ),
    block,
  })
  if (Object.values(calls).some((answer) => !isWord(answer)))
    throw new UnsupportedTokenError({
      token,
      problem: 'has no authorizationState',
    })
  const spent = asked.flatMap(({ nonce }) => {
    const answer = calls[nonce]
    return answer && isTrue(answer) ? [nonce] : []
  })
  return { spent, head }
}
