import { readFile } from 'node:fs/promises'
import { Worker } from 'node:worker_threads'
import { buildPayment, type SignedPayment } from 'countersign'
import { loadAccelerator } from 'countersign/accelerate'
import { transform } from 'esbuild'
import { recoverTypedDataAddress } from 'viem'
import { generatePrivateKey } from 'viem/accounts'
import { compare, type Row } from './compare.js'
import { messageTypes, signWith } from './ordersShop.js'
import { sized } from './sized.js'

const count = sized(10_000, 100)
/** What viem does of them; its time is scaled. */
const byViem = sized(250, 10)

/** Who signed 10,000 payments: their digests, and recovery. */
export async function benchRecovery(): Promise<Row[]> {
  const payments = await signPayments()
  const workers = await Promise.all([startWorker(), startWorker()])
  const half = count / 2
  const { viem = Number.NaN } = await compare('countersign', {
    rounds: 5,
    prepare: () => ({
      countersign: async () => {
        const parts = await Promise.all(
          workers.map((worker, at) =>
            worker.recover(payments.slice(at * half, (at + 1) * half)),
          ),
        )
        checkPayers(payments, parts.flat())
      },
      viem: async () => {
        const some = payments.slice(0, byViem)
        const found = await Promise.all(some.map(recoverByViem))
        checkPayers(some, found)
      },
    }),
  })
  await Promise.all(workers.map((worker) => worker.stop()))
  return [
    {
      name: 'recovery of 10,000, two workers, WASM',
      peer: 'viem recoverTypedDataAddress',
      ratio: (viem * count) / byViem,
      goal: 15,
      unit: 'time',
    },
  ]
}

async function signPayments(): Promise<SignedPayment[]> {
  const { fastAccount } = await loadAccelerator()
  const payer = fastAccount(generatePrivateKey())
  const payments: SignedPayment[] = []
  for (let made = 0; made < count; made++) {
    const payment = buildPayment({
      domain: {
        name: 'USD Coin',
        version: '2',
        chainId: 8453,
        verifyingContract: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913',
      },
      from: payer.address,
      to: '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC',
      amount: '12.50',
    })
    payments.push(await signWith(payer, payment))
  }
  return payments
}

async function recoverByViem(payment: SignedPayment): Promise<string> {
  return (
    await recoverTypedDataAddress({ types: messageTypes, ...payment })
  ).toLowerCase()
}

function checkPayers(
  payments: readonly SignedPayment[],
  found: readonly (string | undefined)[],
): void {
  if (payments.some(({ message }, at) => message.from !== found[at]))
    throw new Error('The payers differ.')
}

type RecoveryWorker = {
  recover(payments: readonly SignedPayment[]): Promise<string[]>
  stop(): Promise<unknown>
}

/** A thread with what ships, loaded and waiting. */
async function startWorker(): Promise<RecoveryWorker> {
  const source = new URL('recoveryWorker.ts', import.meta.url)
  const { code } = await transform(await readFile(source, 'utf8'), {
    loader: 'ts',
    format: 'cjs',
  })
  const worker = new Worker(code, { eval: true, execArgv: [] })
  const next = () =>
    new Promise<string[]>((resolve, reject) => {
      worker.once('message', resolve)
      worker.once('error', reject)
    })
  await next()
  return {
    recover: (payments) => {
      const answer = next()
      worker.postMessage(payments)
      return answer
    },
    stop: () => worker.terminate(),
  }
}
