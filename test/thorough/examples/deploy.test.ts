// The first time, the image had TypeScript in it, which npm keeps as an optional peer.
import { execFileSync, spawnSync } from 'node:child_process'
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { type Payment, signPayment } from 'countersign'
import { createBuyerClient, createMerchantClient } from 'countersign/client'
import { startDevChain } from 'countersign/devchain'
import { afterAll, expect, onTestFinished, test } from 'vitest'
import { findPort } from '../../chain/support/database.js'
import {
  type DeployedProcess,
  startProcess,
  stockShop,
} from '../../chain/support/deployedShop.js'
import { buildImage } from '../../chain/support/dockerfile.js'
import { packOnce } from '../../package/installPackage.js'

const source = 'examples/deploy'
const programs = ['web', 'worker'] as const

const chain = await startDevChain({ blockTime: 0.5, epochBlocks: 2 })
const place = mkdtempSync(join(tmpdir(), 'countersign-image-'))
afterAll(async () => {
  rmSync(place, { recursive: true, force: true })
  await chain.stop()
})

/**
 * Variables that tell programs how to reach npm. On some machines, npm tries for
 * many minutes without them.
 */
const ofNetwork =
  /^(NODE_EXTRA_CA_CERTS|npm_config_registry|(https?|no)_proxy)$/i

/** This machine's programs; packages that were fetched before are not fetched. */
const base = {
  ...Object.fromEntries(
    Object.entries(process.env).flatMap(([name, value = '']) =>
      ofNetwork.test(name) ? [[name, value]] : [],
    ),
  ),
  PATH: process.env.PATH ?? '',
  HOME: process.env.HOME ?? place,
  npm_config_prefer_offline: 'true',
  npm_config_audit: 'false',
  npm_config_fund: 'false',
}

/** The example with the packed package, as if npm had it, and a lockfile. */
function prepare(): string {
  const context = join(place, 'context')
  cpSync(source, context, { recursive: true })
  const file = join(context, 'package.json')
  const manifest = JSON.parse(readFileSync(file, 'utf8'))
  manifest.dependencies.countersign = `file:${packOnce().tarball}`
  writeFileSync(file, JSON.stringify(manifest))
  execFileSync('npm', ['install', '--package-lock-only'], {
    cwd: context,
    env: base,
    stdio: 'pipe',
  })
  return context
}

const into = join(place, 'stages')
mkdirSync(into)
const image = buildImage({ context: prepare(), into, base })

/** Starts a program of the image on the shop's file. */
async function start(
  program: (typeof programs)[number],
  shop: Awaited<ReturnType<typeof stockShop>>,
  {
    command = ['node', `${program}.js`],
    env = {},
  }: { command?: readonly string[]; env?: Record<string, string> } = {},
): Promise<DeployedProcess & { port: number }> {
  const port = await findPort()
  const one = startProcess(command, {
    cwd: image.folder,
    env: { ...image.env, ...env, ...shop.envOf(program), DRAIN_SECONDS: '1' },
    port,
  })
  onTestFinished(one.kill)
  await one.ready()
  return { ...one, port }
}

async function openShop() {
  const shop = await stockShop(chain)
  onTestFinished(shop.remove)
  return shop
}

test('the image has what its processes need, and nothing to build with', () => {
  const modules = readdirSync(join(image.folder, 'node_modules'))
  expect(modules).toContain('countersign')
  expect(modules).not.toContain('typescript')
  const own = readdirSync(image.folder).filter((name) => /\.\w+$/.test(name))
  expect(own.filter((name) => /\.(ts|service)$/.test(name))).toEqual([])
  expect(readFileSync(join(source, 'Dockerfile'), 'utf8')).toMatch(
    /^USER node$/m,
  )
})

test('the steps of the Dockerfile make a shop that sells, and whose containers are healthy until they are stopped; not covered: the base image, its user, Docker itself', async () => {
  const shop = await openShop()
  const web = await start('web', shop, { command: image.command })
  const worker = await start('worker', shop)
  const check = ({ port }: { port: number }) => {
    const [command = '', ...args] = image.healthcheck
    const env = { ...image.env, PORT: String(port) }
    return spawnSync(command, args, { cwd: image.folder, env }).status
  }
  expect([check(web), check(worker)]).toEqual([0, 0])

  const { url } = web
  const merchant = createMerchantClient({ url, key: shop.apiKey })
  const { order, buyerToken } = await merchant.draft({ amount: '1.00' })
  const buyer = createBuyerClient({ url, orderId: order.id, buyerToken })
  const { payer } = chain.clients
  const payment = await buyer.requestPayment({ payer: payer.account.address })
  const signed = await signPayment(payer, {
    payment: payment as Payment,
    expect: {
      chainId: chain.chain.id,
      token: chain.token,
      to: shop.merchant,
      amount: '1.00',
    },
  })
  await buyer.sendPayment(signed)
  await expect.poll(async () => (await buyer.get()).state).toBe('captured')

  expect((await web.stop()).code).toBe(0)
  expect((await worker.stop()).code).toBe(0)
  expect(check(web)).not.toBe(0)
})

type Unit = { text: string; valuesOf: (name: string) => string[] }

function readUnit(program: string): Unit {
  const text = readFileSync(
    join(source, `countersign-${program}.service`),
    'utf8',
  )
  const valuesOf = (name: string) =>
    [...text.matchAll(new RegExp(`^${name}=(.*)$`, 'gm'))].map(
      ([, value = '']) => value,
    )
  return { text, valuesOf }
}

test.each(programs)(
  'the unit of the %s starts it with its credentials alone, and SIGTERM ends it in time; not covered: what systemd takes away from it',
  async (program) => {
    const { valuesOf } = readUnit(program)
    const shop = await openShop()
    const given = readdirSync(shop.envOf(program).CREDENTIALS_DIRECTORY ?? '')
    const loaded = valuesOf('LoadCredential').map((one) => one.split(':')[0])
    expect(loaded.sort()).toEqual(given.sort())
    const [commandLine = ''] = valuesOf('ExecStart')
    const command = commandLine.replace('/usr/bin/node', 'node').split(' ')
    const [settings = ''] = valuesOf('Environment')
    const env = Object.fromEntries(
      settings.split(' ').map((one) => one.split('=')),
    )
    const one = await start(program, shop, { command, env })
    expect(await one.probe('livez')).toBe(200)
    const { code, signal, milliseconds } = await one.stop()
    process.stderr.write(`${program} ended after ${milliseconds} ms\n`)
    expect([code, signal]).toEqual([0, null])
    const [longest = ''] = valuesOf('TimeoutStopSec')
    expect(milliseconds).toBeLessThan(Number(longest) * 1_000)
    expect(valuesOf('KillSignal')).toEqual(['SIGTERM'])
    expect(valuesOf('Restart')).toEqual(['always'])
  },
)

test('a worker that cannot open its store ends with an error, so that it is started again', async () => {
  const shop = await openShop()
  const env = { ...shop.envOf('worker'), CREDENTIALS_DIRECTORY: shop.folder }
  const { status, stderr } = spawnSync('node', ['worker.js'], {
    cwd: image.folder,
    env: { ...image.env, ...env },
    encoding: 'utf8',
  })
  expect(status).toBe(1)
  expect(stderr).toContain('There is no secret node-url')
})

const hasSystemd =
  spawnSync('sh', ['-c', 'command -v systemd-analyze']).status === 0
if (!hasSystemd)
  process.stderr.write(
    'not installed: systemd-analyze (Debian: apt-get install systemd): a test is skipped.\n',
  )

test.runIf(hasSystemd)('systemd understands the units', () => {
  const folder = join(place, 'units')
  mkdirSync(folder)
  const files = programs.map((program) => {
    const file = join(folder, `countersign-${program}.service`)
    const { text } = readUnit(program)
    writeFileSync(file, text.replace('/usr/bin/node', process.execPath))
    return file
  })
  const { status, stdout, stderr } = spawnSync(
    'systemd-analyze',
    ['verify', '--man=no', ...files],
    { encoding: 'utf8' },
  )
  expect([status, stdout, stderr]).toEqual([0, '', ''])
})
