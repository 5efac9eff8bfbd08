import type * as z from 'zod'
import { RequestRefusedError } from './routes/errors.js'

/**
 * Checks a value against its schema. The error names the first wrong field.
 *
 * @param whole name of the value when no single field is wrong.
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

/** Uses only texts of our schemas: any code can change zod's own messages. */
function describe(issue: z.core.$ZodIssue | undefined): string {
  switch (issue?.code) {
    case 'unrecognized_keys':
      return 'is not a known field'
    case 'invalid_type':
      return `must be of type ${issue.expected}`
    case 'invalid_format':
      // Our schemas give each pattern a message that states the rule.
      return `must be ${issue.message}`
    case 'invalid_value':
      return `must be ${issue.values.join(' or ')}`
    default:
      return 'is malformed'
  }
}

/**
 * Hides a client's member name unless it is a plain word: it may be a secret.
 */
function showName(name = ''): string {
  return /^[a-z_]\w{0,31}$/i.test(name) ? name : '…'
}
