/**
 * Answers of a node about the parts of a list, and the parts that it refused.
 */
export type PartAnswers<item, answer> = {
  answers: readonly answer[]
  refused: readonly { part: readonly item[]; error: unknown }[]
}

/**
 * Most alternatives in one topic position of a log filter: nodes refuse longer
 * lists.
 */
const mostTopics = 1000

/**
 * Splits items into parts that each fit into one topic position of a log
 * filter.
 */
export function splitTopics<item>(items: readonly item[]): item[][] {
  const parts: item[][] = []
  for (let at = 0; at < items.length; at += mostTopics)
    parts.push(items.slice(at, at + mostTopics))
  return parts
}

/**
 * Most parts into which a list is split to find the items that the node
 * refuses.
 */
const mostProbes = 64

/**
 * Refused parts after which a node that has answered nothing gets no further
 * request.
 */
const mostInVain = 4

/**
 * Asks a node about the parts of a list. Splits a part that fails in half and
 * asks about both halves, again and again. So a list that is too long for the
 * node still gets an answer, and an item that the node refuses does not cost
 * the other items theirs.
 */
export async function askInParts<item, answer>(
  parts: readonly (readonly item[])[],
  ask: (part: readonly item[]) => Promise<answer>,
): Promise<PartAnswers<item, answer>> {
  const answers: answer[] = []
  const refused: { part: readonly item[]; error: unknown }[] = []
  let open = parts
  for (let probes = parts.length; ; probes += open.length) {
    const asked = await Promise.all(
      open.map((part) =>
        ask(part).then(
          (answer) => ({ part, answer }),
          (error: unknown) => ({ part, error }),
        ),
      ),
    )
    const failed: typeof refused = []
    for (const one of asked)
      if ('answer' in one) answers.push(one.answer)
      else failed.push(one)
    const isInVain = answers.length === 0 && probes > mostInVain
    const isLast = isInVain || probes >= mostProbes
    const split = isLast ? [] : failed.filter(({ part }) => part.length > 1)
    for (const one of failed) if (!split.includes(one)) refused.push(one)
    if (split.length === 0) return { answers, refused }
    open = split.flatMap(({ part }) => halve(part))
  }
}

/** Splits a list in two; a list of one stays whole. */
export function halve<item>(part: readonly item[]): (readonly item[])[] {
  const middle = Math.ceil(part.length / 2)
  return [part.slice(0, middle), part.slice(middle)].filter(
    ({ length }) => length > 0,
  )
}
