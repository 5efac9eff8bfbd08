import type { Address, Hash } from 'viem'
import { parseCheckedAddress } from '../../core/parseCheckedAddress.js'
import type { OrderState } from '../../store/types.js'
import { checkDatabase } from '../checks/checkDatabase.js'
import { checkFunds } from '../checks/checkFunds.js'
import { checkNode, checkWalletNode } from '../checks/checkNode.js'
import { checkSeals } from '../checks/checkSeals.js'
import { checkToken } from '../checks/checkToken.js'
import { fail, tryCheck } from '../checks/findings.js'
import type { CheckFinding } from '../checks/types.js'
import { UsageError } from '../terminal/errors.js'
import { countOf } from '../terminal/formats.js'
import { type OpenedShop, withShop } from '../terminal/openShop.js'
import { parseNumberOption, shopOptions } from '../terminal/options.js'
import { createPrinter, type Printer } from '../terminal/print.js'
import { readPrivateKey } from '../terminal/readPrivateKey.js'
import type { Command, CommandInput } from '../terminal/types.js'
import { clearTests, testSubject } from './clearTests.js'
import {
  destinationOfPlan,
  sendTestPayment,
  type TestPlan,
} from './sendTestPayment.js'

/** Options that make sense only with `--send`. */
const sendOptions = ['timeout', 'chain', 'token', 'recipient'] as const

/** Seconds within which a worker must capture the test payment. */
const usualLimit = 120n
const longestLimit = 3_600n

export const doctorCommand: Command = {
  name: 'doctor',
  summary: 'Checks everything that a shop needs before it goes live.',
  positionals: '',
  mostPositionals: 0,
  options: {
    ...shopOptions,
    send: {
      type: 'boolean',
      help: 'Then pay one smallest unit of the token, by a private key from standard input.',
    },
    timeout: {
      type: 'string',
      value: 'SECONDS',
      help: `How long the worker may take to capture it. Default: ${usualLimit}.`,
    },
    chain: {
      type: 'string',
      value: 'ID',
      help: 'The chain to pay on. Default: the only one.',
    },
    token: {
      type: 'string',
      value: 'ADDRESS',
      help: 'The token to pay in. Default: the only one.',
    },
    recipient: {
      type: 'string',
      value: 'ADDRESS',
      help: 'The recipient to pay. Default: the only one.',
    },
  },
  details: [
    'Checks the database, sealing keys, wallets and their gas, nodes and tokens. Prints one line for each, and what to do.',
    'Exits with 1 if a check fails, with 3 if every failure is a node or database that cannot be reached, and with 0 if there are only warnings.',
    'With --send, if nothing failed: drafts an order, signs and accepts its payment, requests the capture, and watches until the running worker has captured it. Writes this one order. It is marked: no worker fulfils it, and no webhook reports it. If it is not captured in time, it is voided. What a killed run left is voided too.',
    'The key needs the token, and no gas. It is neither shown nor kept. Never pass it as an argument.',
  ],
  example: 'npx countersign doctor --config countersign.config.mjs',
  run: async (input) => {
    const print = createPrinter(input.io)
    const plan = await readPlan(input)
    const { findings, test } = await withShop(
      input,
      (shop) => examineAndSend(shop, plan, input),
      plan ? 'write' : 'read',
    )
    const failed = findings.filter(({ level }) => level === 'fail')
    if (input.flag('json'))
      print.json({ ok: failed.length === 0, findings, test })
    else printFindings(print, findings)
    if (failed.length === 0) return 0
    return failed.every(({ isAway }) => isAway) ? 3 : 1
  },
}

/**
 * Reads the options of the test payment and the private key that pays it.
 * Returns `undefined` without `--send`.
 */
async function readPlan(input: CommandInput): Promise<TestPlan | undefined> {
  const { io, text, flag } = input
  if (!flag('send')) {
    const extra = sendOptions.find((name) => text(name) !== undefined)
    if (extra) throw new UsageError(`--${extra} needs --send.`)
    return undefined
  }
  const limit = parseNumberOption('timeout', text('timeout')) ?? usualLimit
  if (limit < 1n || limit > longestLimit)
    throw new UsageError(`--timeout must be from 1 to ${longestLimit}.`)
  const chainId = parseNumberOption('chain', text('chain'))
  return {
    limit: Number(limit),
    choice: {
      chainId: chainId === undefined ? undefined : Number(chainId),
      token: parseAddressOption(input, 'token'),
      recipient: parseAddressOption(input, 'recipient'),
    },
    account: await readPrivateKey(io),
  }
}

function parseAddressOption(
  { text }: CommandInput,
  name: string,
): Address | undefined {
  const given = text(name)
  return given === undefined ? undefined : parseCheckedAddress(given, name)
}

/** The findings of all checks, and the test payment if one was sent. */
type Examined = {
  findings: readonly CheckFinding[]
  test?: SentTestFacts | undefined
}

/** The test payment as `--json` prints it. */
type SentTestFacts = {
  orderId: string
  state: OrderState
  transactionHash: Hash | undefined
}

async function examineAndSend(
  shop: OpenedShop,
  plan: TestPlan | undefined,
  { io }: CommandInput,
): Promise<Examined> {
  const destination = plan && destinationOfPlan(shop.context, plan)
  const findings = await examine(shop, plan ? 'write' : 'read')
  if (!plan || !destination) return { findings }
  if (findings.some(({ level }) => level === 'fail')) {
    const words = 'was not made, because a check failed'
    const unsent = fail(testSubject, words, 'Repair what failed first.')
    return { findings: [...findings, unsent] }
  }
  const sent = await sendTestPayment(shop, destination, plan, io)
  const { findings: more, order } = sent
  const all = [...findings, ...more]
  if (!order) return { findings: all }
  const { id: orderId, state, capture } = order
  const transactionHash = capture?.transactionHash
  return { findings: all, test: { orderId, state, transactionHash } }
}

async function examine(
  shop: OpenedShop,
  access: 'read' | 'write',
): Promise<readonly CheckFinding[]> {
  const { orders, context } = shop
  const { tokens, wallets, recipients } = context
  // Opens the store before the checks. If the database cannot be reached, this
  // is then reported once, and not by every check.
  await context.store.open()
  const chains = new Map(tokens.map((token) => [token.chainId, token]))
  const found = await Promise.all([
    tryCheck('database', 'Check the database.', () => checkDatabase(context)),
    tryCheck('sealing keys', 'Check the sealer.', () => checkSeals(context)),
    ...wallets.map(({ client, submitter }) =>
      checkWalletNode(client, submitter.chainId, submitter.account),
    ),
    tryCheck('gas', 'Check the nodes.', async () =>
      (await orders.health()).submitters.flatMap(checkFunds),
    ),
  ])
  for (const token of chains.values())
    found.push(await checkNode(context, token))
  for (const token of tokens) found.push(await checkToken(token, recipients))
  found.push(
    await tryCheck(testSubject, 'Check the database.', () =>
      clearTests(shop, access),
    ),
  )
  return found.flat()
}

function printFindings(
  print: Printer,
  findings: readonly CheckFinding[],
): void {
  const paint = { ok: print.good, warn: print.warn, fail: print.bad }
  for (const { level, subject, words, toDo } of findings) {
    print.line(`${paint[level](level.padEnd(4))}  ${subject}: ${words}`)
    if (toDo) print.line(`      ${toDo}`)
  }
  const count = (wanted: CheckFinding['level']) =>
    findings.filter(({ level }) => level === wanted).length
  print.line()
  print.line(
    `${count('ok')} ok, ${countOf(count('warn'), 'warning')}, ${count('fail')} failed.`,
  )
}
