/** What the backend said no with. */
export class Problem extends Error {
  readonly status: number
  readonly reason: string
  /** Milliseconds after which the same may be asked again. */
  readonly retryAfter: number | undefined

  constructor(response: Response, body: unknown) {
    const { detail, reason = 'internal' } = Object(body)
    super(detail ?? `The shop answered ${response.status}.`)
    this.status = response.status
    this.reason = reason
    const seconds = Number(response.headers.get('retry-after') ?? Number.NaN)
    this.retryAfter = Number.isNaN(seconds) ? undefined : seconds * 1000
  }
}

/** Nobody answered. */
export class Unreachable extends Error {}
