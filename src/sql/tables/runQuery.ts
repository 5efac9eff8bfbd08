import { CompiledQuery, type QueryResult, type RawBuilder, sql } from 'kysely'
import type { SqlDialect, SqlSession } from './sqlEngine.js'

/** Where a query runs. */
export type QueryPlace = {
  readonly session: SqlSession
  readonly dialect: SqlDialect
}

/**
 * Returns a placeholder for the value of this name, which each run provides.
 */
export type Slot<values> = <name extends keyof values & string>(
  name: name,
) => RawBuilder<values[name]>

/**
 * Builds a query. Its text must depend on the shape alone; values become slots.
 */
export type BuildQuery<shape, values, row> = (
  place: QueryPlace,
  shape: shape,
  slot: Slot<values>,
) => CompiledQuery<row>

/** The text of a query, with a name or a constant for each parameter. */
type BuiltQuery = {
  text: string
  parameters: readonly ({ name: string } | { constant: unknown })[]
}

type Texts = Map<string, BuiltQuery>

/** Most texts to cache for one builder. */
const mostShapes = 100

/** The texts of each dialect by builder. */
const known = /* @__PURE__ */ new WeakMap<SqlDialect, WeakMap<object, Texts>>()

/**
 * Runs a query. Builds its text once for each shape, because building a text
 * takes longer than running it.
 *
 * @param build a function at module level, because it is the key of the cache.
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

/** Runs one or more statements without values, in one round trip. */
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
    // Each placeholder is an object of its own. A constant parameter can never
    // be the same object, so it is never taken for a placeholder.
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
