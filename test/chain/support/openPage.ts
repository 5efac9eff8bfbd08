import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { build } from 'esbuild'
import { type Page, chromium as playwright } from 'playwright-core'

export type OpenedPage = {
  page: Page
  /** What the page printed as an error. */
  problems: readonly string[]
  /** Where the browser is unpacked. */
  folder: string
  close(): Promise<void>
}

/** Bundles a module for browsers and opens it in headless Chromium. */
export async function openPage(module: string): Promise<OpenedPage> {
  const folder = mkdtempSync(join(tmpdir(), 'countersign-browser-'))
  const steps: (() => unknown)[] = [
    () => rmSync(folder, { recursive: true, force: true }),
  ]
  const close = async (): Promise<void> => {
    for (const step of steps.splice(0).reverse()) await step()
  }
  try {
    const { origin, stop } = await serve(await bundle(module))
    steps.push(stop)
    const browser = await launch(folder)
    steps.push(() => browser.close())
    const page = await browser.newPage()
    const problems: string[] = []
    page.on('pageerror', (error) => problems.push(String(error)))
    await page.goto(origin)
    return { page, problems, folder, close }
  } catch (error) {
    await close()
    throw error
  }
}

/** As a page's bundler would; an import of Node fails here. */
async function bundle(module: string): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [module],
    alias: { 'countersign/reads': './src/chain/index.ts' },
    bundle: true,
    platform: 'browser',
    format: 'esm',
    target: 'es2022',
    write: false,
    logLevel: 'silent',
  })
  return outputFiles.map(({ text }) => text).join('')
}

async function serve(
  script: string,
): Promise<{ origin: string; stop(): Promise<unknown> }> {
  const server = createServer(({ url }, response) => {
    const isScript = url === '/page.js'
    const type = isScript ? 'text/javascript' : 'text/html'
    response.writeHead(200, { 'content-type': `${type}; charset=utf-8` })
    response.end(
      isScript
        ? script
        : '<!doctype html><link rel="icon" href="data:,"><script type="module" src="/page.js"></script>',
    )
  })
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve)
  })
  const { port } = server.address() as AddressInfo
  return {
    origin: `http://127.0.0.1:${port}/`,
    stop: () => {
      server.closeAllConnections()
      return new Promise((resolve) => server.close(resolve))
    },
  }
}

const quiet = [
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-gpu',
  '--disable-quic',
  '--disable-sync',
  '--no-first-run',
  // A browser of root's refuses to run in a sandbox.
  '--no-sandbox',
]

export type Browser = Awaited<ReturnType<typeof playwright.launch>>

/**
 * @param hasFonts For pages that bring no font of their own, and would have no
 * letters.
 */
export async function launch(
  folder: string,
  { hasFonts = false } = {},
): Promise<Browser> {
  // npm has the browser for this platform; elsewhere an installed one is used.
  if (process.platform !== 'linux' || process.arch !== 'x64')
    return playwright.launch({ channel: 'chrome', args: quiet })
  const { executablePath, env } = await unpack(folder)
  // The fonts of the package are looked for where they are not.
  if (hasFonts)
    writeFileSync(
      join(folder, 'fonts', 'fonts.conf'),
      `<fontconfig><dir>${folder}/fonts</dir><cachedir>${folder}/cache</cachedir></fontconfig>`,
    )
  return playwright.launch({ executablePath, env, args: quiet })
}

/**
 * Unpacks the browser, and with it the libraries (NSS, NSPR, expat) that a
 * clean machine lacks.
 */
async function unpack(folder: string): Promise<{
  executablePath: string
  env: Record<string, string>
}> {
  const before = { ...process.env }
  // Both are read when the package is imported, and when it unpacks.
  process.env.TMPDIR = folder
  process.env.AWS_LAMBDA_JS_RUNTIME = 'nodejs20.x'
  try {
    const { default: packaged } = await import('@sparticuz/chromium')
    packaged.setGraphicsMode = false
    const executablePath = await packaged.executablePath()
    return {
      executablePath,
      env: {
        ...before,
        TMPDIR: folder,
        HOME: folder,
        FONTCONFIG_PATH: join(folder, 'fonts'),
        LD_LIBRARY_PATH: join(folder, 'al2023', 'lib'),
      } as Record<string, string>,
    }
  } finally {
    for (const name of Object.keys(process.env))
      if (before[name] === undefined) delete process.env[name]
    Object.assign(process.env, before)
  }
}
