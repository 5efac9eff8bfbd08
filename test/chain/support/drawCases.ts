import { seededRandom } from '../../../src/testing/seededRandom.js'

/** One way to mount a handler and to ask for it, by the names of its parts. */
export type AnswerCase = {
  inFront: readonly string[]
  behind: readonly string[]
  handler: string
  request: string
}

type Parts = {
  middleware: readonly string[]
  handlers: readonly string[]
  requests: readonly string[]
}

export const nameOf = (one: AnswerCase): string =>
  `${one.request}: ${[...one.inFront, 'gate', ...one.behind, one.handler].join(' > ')}`

/** Each part alone, then `count` cases that a seed draws. */
export function drawCases(
  { middleware, handlers, requests }: Parts,
  { seed, count }: { seed: number; count: number },
): AnswerCase[] {
  const plain = { inFront: [], behind: [] }
  const alone = [
    ...handlers.map((handler) => ({ ...plain, handler, request: 'get' })),
    ...requests.map((request) => ({ ...plain, handler: 'body', request })),
    ...middleware.flatMap((one): AnswerCase[] => [
      { inFront: [one], behind: [], handler: 'json', request: 'browser' },
      { inFront: [], behind: [one], handler: 'json', request: 'browser' },
    ]),
  ]
  const random = seededRandom(seed)
  const draw = (names: readonly string[]) =>
    names[Math.floor(random() * names.length)] ?? ''
  const several = () =>
    Array.from({ length: Math.floor(random() * 4) }, () => draw(middleware))
  const drawn = Array.from({ length: count }, () => ({
    inFront: several(),
    behind: several(),
    handler: draw(handlers),
    request: draw(requests),
  }))
  return [...alone, ...drawn]
}
