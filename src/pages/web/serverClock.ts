/** Sends requests, and learns from the answers what time the server has. */
export type ServerClock = {
  fetch: (request: Request) => Promise<Response>
  /** Unix seconds. Buyers' clocks are often wrong. */
  now: () => number
}

export function serverClock(): ServerClock {
  let ahead = 0
  return {
    fetch: async (request) => {
      const response = await fetch(request)
      const date = Date.parse(response.headers.get('date') ?? '')
      // The header has whole seconds.
      if (Math.abs(date - Date.now() - ahead) > 2_000) ahead = date - Date.now()
      return response
    },
    now: () => Math.floor((Date.now() + ahead) / 1_000),
  }
}
