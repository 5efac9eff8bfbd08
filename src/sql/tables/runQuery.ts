import { CompiledQuery, type QueryResult, type RawBuilder, sql } from 'kysely'
import type { SqlDialect, SqlSession } from './sqlEngine.js'

/** Where a query runs: a session, and the SQL dialect of its database. */
export type QueryPlace = {
  readonly session: SqlSession
  readonly dialect: SqlDialect
}

/**
 * Returns a placeholder with this name. Each run of the query gives the value.
 */
export type Slot<values> = <name extends keyof values & string>(
  name: name,
) => RawBuilder<values[name]>

/**
 * Builds the text of a query for a `shape`. The text must not depend on values,
 * because it is cached for each shape: values become placeholders.
 */
export type BuildQuery<shape, values, row> = (
  place: QueryPlace,
  shape: shape,
  slot: Slot<values>,
) => CompiledQuery<row>

/**
 * The text of a query. Each parameter is a constant, or the name of a value
 * that each run gives.
 */
type BuiltQuery = {
  text: string
  parameters: readonly ({ name: string } | { constant: unknown })[]
}

type Texts = Map<string, BuiltQuery>

/** Most query texts to cache for one builder, one for each shape. */
const mostShapes = 100

/** Caches the query texts of each dialect by builder. */
const known = /* @__PURE__ */ new WeakMap<SqlDialect, WeakMap<object, Texts>>()

/**
 * Runs a query. Builds its text once for each shape and caches it, because
 * building a text takes longer than running it.
 *
 * @param build a function at module level: it is the key of the cache, so a new
 * function for each call would never find its text.
 */
export function runQuery<shape, values extends object, row>(
  place: QueryPlace,
  build: BuildQuery<shape, values, row>,
  { shape, values }: { shape: shape; values: values },
): Promise<QueryResult<row>> {
  const texts = textsOf(place.dialect, build)
  const key = JSON.stringify(shape)
  let query = texts.get(key)
  if (!query) {
    query = buildOnce(place, build, shape)
    if (texts.size >= mostShapes) texts.clear()
    texts.set(key, query)
  }
  const bound = query.parameters.map((parameter) =>
    'name' in parameter
      ? Reflect.get(values, parameter.name)
      : parameter.constant,
  )
  return place.session.executeQuery(CompiledQuery.raw(query.text, bound))
}

/** Runs one or more statements without parameters, in one round trip. */
export async function runText(
  session: SqlSession,
  text: string,
): Promise<void> {
  await session.executeQuery(CompiledQuery.raw(text))
}

function textsOf(dialect: SqlDialect, build: object): Texts {
  const builders = known.get(dialect) ?? new WeakMap<object, Texts>()
  known.set(dialect, builders)
  const texts: Texts = builders.get(build) ?? new Map()
  builders.set(build, texts)
  return texts
}

function buildOnce<shape, values, row>(
  place: QueryPlace,
  build: BuildQuery<shape, values, row>,
  shape: shape,
): BuiltQuery {
  const names = new Map<unknown, string>()
  const { sql: text, parameters } = build(place, shape, (name) => {
    // Uses a new object as placeholder, and later finds it by identity. A
    // constant parameter can never be the same object.
    const stand = { name }
    names.set(stand, name)
    return sql`${stand}`
  })
  return {
    text,
    parameters: parameters.map((parameter) => {
      const name = names.get(parameter)
      return name === undefined ? { constant: parameter } : { name }
    }),
  }
}
