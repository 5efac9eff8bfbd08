import type { Attributes } from '@opentelemetry/api'

/** Most values of one label; further ones are counted together as `other`. */
export const mostValues = 100

/** Words, error names, names of calls and targets, and numbers. */
const valueForm = /^(?:[A-Za-z][\w.:-]{0,63}|\d{1,20})$/

/** A digest or an address without its prefix, or an id that is random. */
const idForm = /[0-9a-f]{16}/i

/**
 * Creates a function that turns the values of labels into attributes, and keeps
 * their number small whatever the values are: no label has more than
 * {@link mostValues}, and none has the form of a hash, an address or a random
 * id. Leaves out absent values.
 */
export function createLabelBounds(): (
  labels: Readonly<Record<string, unknown>>,
) => Attributes {
  const seen = new Map<string, Set<string>>()
  const boundOf = (label: string, value: string): string => {
    const known = seen.get(label) ?? new Set()
    seen.set(label, known)
    if (known.has(value)) return value
    const isKept =
      known.size < mostValues && valueForm.test(value) && !idForm.test(value)
    if (!isKept) return 'other'
    known.add(value)
    return value
  }
  return (labels) => {
    const bounded: Attributes = {}
    for (const [label, value] of Object.entries(labels))
      if (value !== undefined) bounded[label] = boundOf(label, String(value))
    return bounded
  }
}
