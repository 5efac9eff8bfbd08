import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Page } from 'playwright-core'
import { afterAll } from 'vitest'

type Account = { signTypedData: (typedData: never) => Promise<string> }

export type Framing = {
  /** Addresses of a page with the frame: on the same site, and on another. */
  around: string
  elsewhere: string
  /** Sets what is in the frame, and its attributes. */
  frame(src: string, attributes?: string): void
}

/** Serves a page that has another page in a frame. */
export async function serveFraming(): Promise<Framing> {
  let inside = ''
  const server = createServer((_, answer) => {
    answer.setHeader('content-type', 'text/html')
    answer.end(
      `<!doctype html><link rel="icon" href="data:,"><title>Around</title>${inside}`,
    )
  })
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve)
  })
  afterAll(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  return {
    around: `http://127.0.0.1:${port}`,
    // The same server, under a name that belongs to another site.
    elsewhere: `http://localhost:${port}`,
    frame: (src, attributes = '') => {
      inside = `<iframe ${attributes} width="380" height="800" src="${src}"></iframe>`
    },
  }
}

/** Signs with the test wallet of a frame, which has its own window. */
export async function signInFrame(page: Page, account: Account): Promise<void> {
  const frame = page.frames().at(-1)
  if (!frame) throw new Error('no frame')
  await frame.waitForFunction(() => window.testWallet?.asked)
  const text = await frame.evaluate(() => window.testWallet.asked?.typedData)
  const signature = await account.signTypedData(JSON.parse(text ?? '') as never)
  await frame.evaluate(
    (signed) => window.testWallet.asked?.answer(signed),
    signature,
  )
}
