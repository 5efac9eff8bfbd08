import type { Address, Client, Hex } from 'viem'
import { tryRequest } from '../../chain/rpc/requestNode.js'
import { getToken } from '../../chain/state/getToken.js'
import { word } from '../../core/words.js'
import type { OrderToken } from '../../orders/index.js'
import { fail, ok, tryCheck } from './findings.js'
import type { CheckFinding } from './types.js'

/** Selectors of `paused()` and `isBlacklisted(address)` of Circle's tokens. */
const pausedSelector = '0x5c975abb'
const blockedSelector = '0xfe575a87'

/** Checks a token, and whether the recipients can be paid in it. */
export async function checkToken(
  { client, token, chainId }: OrderToken & { chainId: number },
  recipients: readonly Address[],
): Promise<readonly CheckFinding[]> {
  const subject = `chain ${chainId}, token ${token}`
  const found = await tryCheck(
    subject,
    'Check the address of the token on this chain.',
    async () => {
      const { domain, decimals } = await getToken(client, { token })
      return ok(
        subject,
        `${domain.name}, version ${domain.version}, ${decimals} decimals, separator as computed`,
      )
    },
  )
  if (found.some(({ level }) => level === 'fail')) return found
  const paused = await ask(client, token, pausedSelector)
  const blocked = await Promise.all(
    recipients.map(async (account) => ({
      account,
      isBlocked: await ask(client, token, `${blockedSelector}${word(account)}`),
    })),
  )
  return [
    ...found,
    paused === true
      ? fail(
          subject,
          'is paused: nothing can be captured',
          'Wait for its issuer.',
        )
      : ok(subject, paused === false ? 'is not paused' : 'cannot be paused'),
    ...blocked.map(({ account, isBlocked }) =>
      isBlocked === true
        ? fail(
            subject,
            `blocks the recipient ${account}`,
            'Take another account: its issuer has blocked this one.',
          )
        : ok(
            subject,
            isBlocked === false
              ? `does not block the recipient ${account}`
              : `has no block list that can be asked about ${account}`,
          ),
    ),
  ]
}

/** Calls the token. Returns `undefined` if it lacks the function. */
async function ask(
  client: Client,
  to: Address,
  data: Hex,
): Promise<boolean | undefined> {
  const { result } = await tryRequest(client, 'eth_call', [
    { to, data },
    'latest',
  ])
  return typeof result === 'string' && /^0x[\da-f]{64}$/i.test(result)
    ? BigInt(result) !== 0n
    : undefined
}
