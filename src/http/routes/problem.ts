import { type ProblemReason, problemTable } from '../schemas/problemTable.js'
import type { ProblemFacts } from './errors.js'

/** Prefix of every problem's `type`. */
const problemType = 'urn:countersign:problem:'

/** Builds a problem response (RFC 9457). */
export function problem(
  reason: ProblemReason,
  { field, headers, ...facts }: ProblemFacts = {},
): Response {
  const { title, retryAfter, ...row } = problemTable[reason]
  const { status = row.status, detail = row.detail } = facts
  const body = {
    type: `${problemType}${reason}`,
    title,
    status,
    detail,
    reason,
    ...(field === undefined ? {} : { field }),
  }
  return new Response(JSON.stringify(body), {
    status,
    headers: {
      'content-type': 'application/problem+json',
      ...(retryAfter === undefined ? {} : { 'retry-after': `${retryAfter}` }),
      ...headers,
    },
  })
}
