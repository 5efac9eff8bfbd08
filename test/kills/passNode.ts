import type { Boundaries } from './boundaries.js'

/**
 * Makes every HTTP request to a node a boundary, named by the methods of its
 * batch. A wallet behind the node is one of its methods.
 */
export function passNode(url: string, { pass }: Boundaries): void {
  const send = globalThis.fetch
  globalThis.fetch = async (input, init) => {
    if (!String(input instanceof Request ? input.url : input).startsWith(url))
      return send(input, init)
    const body =
      input instanceof Request ? await input.clone().text() : init?.body
    return pass(methodsOf(String(body)), async () => {
      const response = await send(input, init)
      // All of it has arrived, and nobody has looked at it.
      return new Response(await response.text(), response)
    })
  }
}

function methodsOf(body: string): string {
  const calls: { method: string }[] = [JSON.parse(body)].flat()
  return [...new Set(calls.map(({ method }) => method))].sort().join('+')
}
