import { bytesToHex, type Hex, hexToBytes } from 'viem'
import { isBuffer } from '../../core/isBytes.js'
import { StoreError } from '../../store/errors.js'

/**
 * How a column stores a member of a record, for example as text or as bytes.
 */
export type ColumnKind =
  | 'text'
  /** A 64-bit integer in the database, a `number` in JavaScript. */
  | 'number'
  /** A 64-bit integer in the database, a `bigint` in JavaScript. */
  | 'bigint'
  /** An integer up to 2^256 - 1. */
  | 'amount'
  | 'bytes'
  | 'boolean'
  | 'json'

type KindOf<value> = [value] extends [boolean | undefined]
  ? 'boolean'
  : [value] extends [number | undefined]
    ? 'number'
    : [value] extends [bigint | undefined]
      ? 'bigint' | 'amount'
      : [value] extends [Hex | undefined]
        ? 'bytes'
        : [value] extends [string | undefined]
          ? 'text'
          : 'json'

export type Columns<row> = {
  readonly [name in keyof row & string]-?: KindOf<row[name]>
}

/** The name of the column for a member: `chain_id` for `chainId`. */
type ColumnName<name extends string> =
  name extends `${infer first}${infer rest}`
    ? `${first extends Lowercase<first> ? first : `_${Lowercase<first>}`}${ColumnName<rest>}`
    : ''

/** The type of a column's values in comparisons. */
type Cell<kind> = kind extends 'number' | 'bigint'
  ? bigint
  : kind extends 'bytes'
    ? Uint8Array
    : kind extends 'boolean'
      ? boolean
      : string

export type SqlRow<columns> = {
  [name in keyof columns & string as ColumnName<name>]: Cell<columns[name]>
}

export function columnName(member: string): string {
  return member.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}

/**
 * Uses Node's `Buffer` where it exists: it is several times as fast as viem's
 * functions. Workers have none.
 */
export function toBytes(value: Hex): Uint8Array {
  const { Buffer }: { Buffer?: BufferConstructor } = globalThis
  return Buffer?.from(value.slice(2), 'hex') ?? hexToBytes(value)
}

function fromBytes(bytes: ArrayBuffer): Hex {
  const { Buffer }: { Buffer?: BufferConstructor } = globalThis
  if (Buffer) return `0x${Buffer.from(bytes).toString('hex')}`
  return bytesToHex(new Uint8Array(bytes))
}

const evenHex = /^0x(?:[\da-f]{2})*$/i

/**
 * Encodes one member of a record for the JSON text that carries rows to the
 * database.
 *
 * @throws {@link StoreError} when the column cannot store the value.
 */
export function encodeCell(kind: ColumnKind, value: unknown): unknown {
  if (value === undefined) return null
  if (kind === 'json') return JSON.stringify(value)
  if (kind === 'amount') return String(value)
  if (kind === 'number' || kind === 'bigint') return encodeInteger(value)
  const text = String(value)
  if (kind === 'text' && isBroken(text))
    throw new StoreError('cannot keep text that is not well-formed')
  if (kind !== 'bytes') return value
  if (evenHex.test(text)) return text.slice(2)
  throw new StoreError('cannot keep bytes that are not hexadecimal')
}

/**
 * True when a database cannot store the text. A lone surrogate crashes the
 * package `libsql`. A NUL character makes SQLite cut the text and PostgreSQL
 * refuse it.
 */
function isBroken(text: string): boolean {
  return text.includes('\0') || /\p{Surrogate}/u.test(text)
}

function encodeInteger(value: unknown): string {
  if (typeof value === 'number' && Number.isSafeInteger(value))
    return `${value}`
  const isInteger = typeof value === 'bigint' || Number.isSafeInteger(value)
  if (isInteger && BigInt.asIntN(64, BigInt(`${value}`)) === BigInt(`${value}`))
    return `${value}`
  throw new StoreError(
    `cannot keep ${value} (${typeof value}) as a 64-bit integer`,
  )
}

export function decodeCell(kind: ColumnKind, cell: unknown): unknown {
  if (cell === null) return undefined
  if (kind === 'number') return Number(cell)
  if (typeof cell === 'bigint' && kind === 'bigint') return cell
  if (kind === 'bigint' || kind === 'amount') return BigInt(`${cell}`)
  if (kind === 'boolean') return Boolean(cell)
  if (kind === 'json') return JSON.parse(`${cell}`)
  if (kind === 'bytes' && isBuffer(cell)) return fromBytes(cell)
  return cell
}
