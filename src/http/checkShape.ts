import type * as z from 'zod'
import { RequestRefusedError } from './routes/errors.js'

/**
 * Checks a value by its schema, and names the first field at fault.
 *
 * @param whole what the value itself is called.
 * @throws {@link RequestRefusedError}
 */
export function checkShape<value>(
  schema: z.ZodType<value>,
  given: unknown,
  whole: string,
): value {
  const result = schema.safeParse(given)
  if (result.success) return result.data
  const [issue] = result.error.issues
  const path = (issue?.path ?? []).map(String)
  if (issue?.code === 'unrecognized_keys') path.push(showName(issue.keys[0]))
  const field = path.join('.') || whole
  throw new RequestRefusedError('invalidField', {
    field,
    detail: `${field} ${describe(issue)}.`,
  })
}

/** Of the schema's own words only: those of zod can be changed by anyone. */
function describe(issue: z.core.$ZodIssue | undefined): string {
  switch (issue?.code) {
    case 'unrecognized_keys':
      return 'is not known here'
    case 'invalid_type':
      return `must be of type ${issue.expected}`
    case 'invalid_format':
      // The rule in words that the schema has beside each of its patterns.
      return `must be ${issue.message}`
    case 'invalid_value':
      return `must be ${issue.values.join(' or ')}`
    default:
      return 'is malformed'
  }
}

/** A member someone else named: what is no plain name may be a secret. */
function showName(name = ''): string {
  return /^[a-z_]\w{0,31}$/i.test(name) ? name : '…'
}
