import type { Hex } from 'viem'
import { StoreError } from './errors.js'
import type { StoredValue, StoreReader, StoreWriter } from './types.js'

/** How a value is written in the store's settings, as plain JSON. */
export type Form<value> = {
  encode(value: value): unknown
  /**
   * @param path where the value stands, for the error.
   * @throws {@link StoreError} when the stored value has another form.
   */
  parse(stored: unknown, path: string): value
}

/** One value of the store's settings, under its key. */
export type Setting<value> = {
  key: string
  /** @throws {@link StoreError} when the stored value has another form. */
  load(tables: Pick<StoreReader, 'getValue'>): Promise<value | undefined>
  write(tables: Pick<StoreWriter, 'setValue'>, value: value): Promise<void>
}

export function setting<value>(key: string, form: Form<value>): Setting<value> {
  return {
    key,
    load: async (tables) => {
      const stored = await tables.getValue(key)
      return stored && form.parse(stored, key)
    },
    write: (tables, value) =>
      tables.setValue(key, form.encode(value) as StoredValue),
  }
}

/** Written as a decimal string, because JSON rounds numbers above 2^53. */
export const integerForm: Form<bigint> = {
  encode: String,
  parse: (stored, path) =>
    typeof stored === 'string' && /^-?\d+$/.test(stored)
      ? BigInt(stored)
      : refuse(path),
}

export const countForm: Form<number> = {
  encode: (value) => value,
  parse: (stored, path) =>
    typeof stored === 'number' && Number.isSafeInteger(stored)
      ? stored
      : refuse(path),
}

export const textForm: Form<string> = {
  encode: (value) => value,
  parse: (stored, path) => (typeof stored === 'string' ? stored : refuse(path)),
}

export const hexForm: Form<Hex> = {
  encode: (value) => value,
  parse: (stored, path) => {
    const value = textForm.parse(stored, path)
    return isHex(value) ? value : refuse(path)
  },
}

const isHex = (value: string): value is Hex => value.startsWith('0x')

/** A member that may be absent. */
export function optional<value>(form: Form<value>): Form<value | undefined> {
  return {
    encode: (value) => (value === undefined ? undefined : form.encode(value)),
    parse: (stored, path) =>
      stored === undefined ? undefined : form.parse(stored, path),
  }
}

export function listOf<item>(form: Form<item>): Form<readonly item[]> {
  return {
    encode: (items) => items.map(form.encode),
    parse: (stored, path) =>
      Array.isArray(stored)
        ? stored.map((item, at) => form.parse(item, `${path}[${at}]`))
        : refuse(path),
  }
}

/**
 * Written as an object, one member for each entry. If there is none stored, the
 * map is empty.
 */
export function mapOf<key extends string, value>(
  keys: Form<key>,
  values: Form<value>,
): Form<ReadonlyMap<key, value>> {
  return {
    encode: (map) =>
      Object.fromEntries(
        [...map].map(([key, value]) => [key, values.encode(value)]),
      ),
    parse: (stored = {}, path) =>
      typeof stored === 'object' && stored !== null && !Array.isArray(stored)
        ? new Map(
            Object.entries(stored).map(([key, value]) => [
              keys.parse(key, path),
              values.parse(value, `${path}.${key}`),
            ]),
          )
        : refuse(path),
  }
}

/** An object with a form for each member. Other stored members are ignored. */
export function fields<value extends object>(
  forms: {
    [name in keyof value]-?: Form<value[name]>
  },
): Form<value> {
  const members = Object.entries<Form<unknown>>(forms)
  return {
    encode: (value) =>
      Object.fromEntries(
        members
          .map(([name, form]) => [name, form.encode(Object(value)[name])])
          .filter(([, stored]) => stored !== undefined),
      ),
    // The forms together have the members of `value`: the parameter's type
    // demands one of each.
    parse: (stored, path) =>
      Object.fromEntries(
        members.map(([name, form]) => [
          name,
          form.parse(Object(stored)[name], `${path}.${name}`),
        ]),
      ) as value,
  }
}

function refuse(path: string): never {
  throw new StoreError(`has an invalid value: ${path}`)
}
