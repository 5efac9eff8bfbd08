import type { Client } from 'viem'
import { orNone } from '../../chain/rpc/orNone.js'
import {
  encodeBlock,
  getBlockHead,
  getChainId,
  requestNode,
  tryRequest,
} from '../../chain/rpc/requestNode.js'
import { detectPreconfirmations } from '../../chain/state/detectPreconfirmations.js'
import { getTokenAndHead } from '../../chain/state/getToken.js'
import { devChainIds, maxClockSkew, wallTime } from '../../core/clock.js'
import { topics } from '../../core/tokenAbi.js'
import type { OrdersContext } from '../../orders/engine.js'
import type { OrderToken } from '../../orders/index.js'
import { fail, ok, tryCheck, warn } from './findings.js'
import type { CheckFinding } from './types.js'

type ConfiguredToken = OrderToken & { chainId: number }

const otherNode = 'Use another node, or ask its provider.'

/** Checks what the node of a chain supports. */
export async function checkNode(
  context: OrdersContext,
  given: ConfiguredToken,
): Promise<readonly CheckFinding[]> {
  const { chainId, client } = given
  const name = (what: string) => `chain ${chainId}, ${what}`
  const answers = await tryCheck(name('node'), 'Check its URL and key.', () =>
    checkChainId(client, chainId, name('node')),
  )
  if (answers.some(({ level }) => level === 'fail')) return answers
  const all = await Promise.all([
    tryCheck(name('clock'), otherNode, () =>
      checkTime(client, chainId, name('clock')),
    ),
    tryCheck(name('finality'), otherNode, () =>
      checkFinality(context, client, name('finality')),
    ),
    tryCheck(name('state overrides'), otherNode, () =>
      checkOverrides(given, name('state overrides')),
    ),
    tryCheck(name('logs'), otherNode, () => checkLogs(given, name('logs'))),
    tryCheck(name('old state'), otherNode, () =>
      checkArchive(client, name('old state')),
    ),
    tryCheck(name('pre-confirmations'), otherNode, () =>
      checkPace(client, name('pre-confirmations')),
    ),
  ])
  // Runs last, because it sends many requests at once. The node may then refuse
  // other requests for a second, which would fail other checks.
  const rate = await tryCheck(name('batch and rate'), otherNode, () =>
    checkRate(client, name('batch and rate')),
  )
  return [...answers, ...all.flat(), ...rate]
}

async function checkChainId(
  client: Client,
  chainId: number,
  subject: string,
): Promise<CheckFinding> {
  const found = await getChainId(client)
  return found === chainId
    ? ok(subject, `answers, with chain id ${found}`)
    : fail(
        subject,
        `is of chain ${found}, and the configuration says ${chainId}`,
        'Change the URL, or the chain of the client.',
      )
}

async function checkTime(
  client: Client,
  chainId: number,
  subject: string,
): Promise<CheckFinding> {
  const head = await getBlockHead(client, 'latest')
  const distance = (head?.timestamp ?? 0n) - wallTime()
  const seconds = distance < 0n ? -distance : distance
  const words = `newest block ${distance < 0n ? `${seconds} seconds ago` : `in ${seconds} seconds`}`
  if (seconds <= maxClockSkew) return ok(subject, words)
  if (devChainIds.includes(chainId))
    return ok(subject, `${words}, which is normal on a development chain`)
  return fail(
    subject,
    words,
    'Set the clock of this machine by a time service; if it is right, the node is behind.',
  )
}

async function checkFinality(
  { policy }: OrdersContext,
  client: Client,
  subject: string,
): Promise<CheckFinding> {
  const [safe, finalized] = await Promise.all([
    orNone(getBlockHead(client, 'safe')),
    orNone(getBlockHead(client, 'finalized')),
  ])
  if (safe && finalized)
    return ok(subject, `safe ${safe.number}, finalized ${finalized.number}`)
  const missing = safe ? 'finalized' : 'safe'
  return policy.blocks
    ? ok(subject, `no ${missing} block; policy.blocks counts blocks`)
    : fail(
        subject,
        `has no ${missing} block, so no order is ever fulfilled`,
        'Set policy.blocks, or use another node.',
      )
}

async function checkOverrides(
  { client, token }: ConfiguredToken,
  subject: string,
): Promise<CheckFinding> {
  const { head } = await getTokenAndHead(client, token)
  return head.via === 'override'
    ? ok(
        subject,
        'work, so a capture can be simulated in full before it is sent',
      )
    : warn(
        subject,
        'do not work, so a capture is simulated by plain calls, which detect fewer failures',
        'Prefer a node with state overrides in eth_call.',
      )
}

/** Blocks that one test request for logs covers. */
const logBlocks = 10_000n

async function checkLogs(
  { client, token }: ConfiguredToken,
  subject: string,
): Promise<CheckFinding> {
  const head = await getBlockHead(client, 'latest')
  const last = head?.number ?? 0n
  const first = last > logBlocks ? last - logBlocks : 0n
  const filter = {
    address: token,
    fromBlock: encodeBlock(first),
    toBlock: encodeBlock(last),
    // Filters by an address that has no events, because the check only asks
    // whether the node accepts a range this wide.
    topics: [topics.canceled, `0x${'1'.padStart(64, '0')}`],
  }
  const { failure } = await tryRequest(client, 'eth_getLogs', [filter])
  return failure === undefined
    ? ok(subject, `${last - first + 1n} blocks in one request`)
    : warn(
        subject,
        `fewer than ${logBlocks} blocks in one request: ${failure.words}`,
        'Nothing to do: longer ranges are split. A wider limit makes audits faster.',
      )
}

async function checkArchive(
  client: Client,
  subject: string,
): Promise<CheckFinding> {
  const account = '0x0000000000000000000000000000000000000001'
  const { failure } = await tryRequest(client, 'eth_getBalance', [
    account,
    '0x1',
  ])
  return failure === undefined
    ? ok(subject, 'is there, back to block 1')
    : warn(
        subject,
        'is not there',
        'Nothing, unless you want the books with balances (ledger --transfers): that needs an archive node.',
      )
}

async function checkPace(
  client: Client,
  subject: string,
): Promise<CheckFinding> {
  const { kind, evidence } = await detectPreconfirmations(client)
  const seconds = `${evidence.secondsPerBlock.toFixed(1)} seconds a block`
  return ok(
    subject,
    kind === 'none' ? `none seen, ${seconds}` : `${kind}, ${seconds}`,
  )
}

/** Requests to send at the same time, as a busy shop would. */
const crowd = 20

async function checkRate(
  client: Client,
  subject: string,
): Promise<CheckFinding> {
  const asked = Array.from({ length: crowd }, () =>
    tryRequest(client, 'eth_blockNumber', [], { retryCount: 0 }),
  )
  const refused = (await Promise.all(asked)).filter(({ failure }) => failure)
  return refused.length === 0
    ? ok(subject, `${crowd} requests at once are answered`)
    : warn(
        subject,
        `${refused.length} of ${crowd} requests at once are refused`,
        'Ask the provider for a higher rate before many buyers pay at once.',
      )
}

/**
 * Checks that the node of a wallet serves the chain for which the wallet is
 * configured.
 */
export function checkWalletNode(
  client: Client,
  chainId: number,
  account: string,
): Promise<readonly CheckFinding[]> {
  const subject = `chain ${chainId}, wallet ${account}`
  return tryCheck(subject, 'Check the URL of its transport.', async () => {
    const found = Number(await requestNode(client, 'eth_chainId', []))
    return found === chainId
      ? ok(subject, 'has a key, and sends to this chain')
      : fail(
          subject,
          `sends to chain ${found}`,
          'Change the URL of its transport.',
        )
  })
}
