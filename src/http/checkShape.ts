import type * as z from 'zod'
import { RequestRefusedError } from './routes/errors.js'

/**
 * Checks a value against its schema. The error names the first wrong field.
 *
 * @param whole name of the whole value, such as `'body'`. The error names it
 * when no single field is wrong.
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

/**
 * Describes the problem in this library's own words: any code of the
 * application can replace the messages of zod.
 */
function describe(issue: z.core.$ZodIssue | undefined): string {
  switch (issue?.code) {
    case 'unrecognized_keys':
      return 'is not a known field'
    case 'invalid_type':
      return `must be of type ${issue.expected}`
    case 'invalid_format':
      // In our schemas, the second argument of `regex()` says the rule, such as
      // "0x and 64 hex digits". It arrives here as the message.
      return `must be ${issue.message}`
    case 'invalid_value':
      return `must be ${issue.values.join(' or ')}`
    default:
      return 'is malformed'
  }
}

/**
 * Returns the name of an unknown member only if it is a plain word. A client
 * may have sent a secret as a name, and the error must not show it.
 */
function showName(name = ''): string {
  return /^[a-z_]\w{0,31}$/i.test(name) ? name : '…'
}
