import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)

/** Balances in whole tokens or coins, as decimals, by account. */
type Balances = Readonly<Record<string, string>>

/**
 * The balances of a journal, as read here and by Debian's hledger, which checks
 * the journal strictly first. Without hledger it prints so, and only reads here.
 */
export async function judgeJournal(
  text: string,
): Promise<{ read: Balances; judged: Balances | undefined }> {
  const read = readJournal(text)
  if (await isMissing()) {
    process.stderr.write(
      'hledger is not installed: the journal was not judged.\n',
    )
    return { read, judged: undefined }
  }
  const folder = await mkdtemp(join(tmpdir(), 'countersign-journal-'))
  const file = join(folder, 'books.journal')
  try {
    await writeFile(file, text)
    await ask(file, 'check', '--strict')
    await ask(file, 'check', 'assertions')
    const csv = await ask(
      file,
      ...['balance', '--flat', '--no-total', '--empty', '-O', 'csv'],
    )
    return { read, judged: parseBalances(csv) }
  } finally {
    await rm(folder, { recursive: true })
  }
}

/** Reads without a locale, as a cron job does. */
async function ask(file: string, ...words: string[]): Promise<string> {
  const [command = '', ...options] = words
  const env = { ...process.env, LC_ALL: 'C' }
  const asked = ['-f', file, command, ...options]
  const { stdout } = await run('hledger', asked, { env })
  return stdout
}

async function isMissing(): Promise<boolean> {
  return run('hledger', ['--version']).then(
    () => false,
    () => true,
  )
}

function parseBalances(csv: string): Balances {
  const rows = csv.trim().split('\n').slice(1)
  return Object.fromEntries(
    rows.map((row) => {
      const [, account = '', amount = ''] =
        /^"([^"]*)","(-?[\d.]+)/.exec(row) ?? []
      return [account, trimZeros(amount)]
    }),
  )
}

/**
 * A small reader of our journals: adds up postings, and checks that each entry
 * balances and each assertion holds.
 */
function readJournal(text: string): Balances {
  const units = new Map<string, bigint>()
  for (const entry of text.split('\n\n').slice(1)) {
    const sums = new Map<string, bigint>()
    for (const line of entry.split('\n')) {
      const [, account, amount = '', symbol = '', asserted] =
        /^ {4}(\S+) {2}(-?[\d.]+) (\S+)(?: = (-?[\d.]+) \S+)?$/.exec(line) ?? []
      if (account === undefined || account === ';') continue
      const sum = (units.get(account) ?? 0n) + unitsOf(amount)
      units.set(account, sum)
      sums.set(symbol, (sums.get(symbol) ?? 0n) + unitsOf(amount))
      if (asserted !== undefined && unitsOf(asserted) !== sum)
        throw new Error(`${account} is ${sum}, and not ${unitsOf(asserted)}`)
    }
    for (const [symbol, sum] of sums)
      if (sum !== 0n) throw new Error(`${sum} ${symbol} are left: ${entry}`)
  }
  return Object.fromEntries(
    [...units].map(([account, value]) => [account, decimalOf(value)]),
  )
}

const scale = 18

/** A decimal in units of 10^-18. */
function unitsOf(decimal: string): bigint {
  const [whole = '', fraction = ''] = decimal.replace('-', '').split('.')
  const value = BigInt(whole + fraction.padEnd(scale, '0'))
  return decimal.startsWith('-') ? -value : value
}

function decimalOf(value: bigint): string {
  const digits = String(value < 0n ? -value : value).padStart(scale + 1, '0')
  const decimal = `${digits.slice(0, -scale)}.${digits.slice(-scale)}`
  return trimZeros(value < 0n ? `-${decimal}` : decimal)
}

const trimZeros = (decimal: string): string =>
  decimal.includes('.') ? decimal.replace(/\.?0+$/, '') : decimal
