import { captureCall, type Payment } from 'countersign'
import { devContracts, startDevChain } from 'countersign/devchain'
import {
  type Address,
  type Client,
  createClient,
  custom,
  type Hex,
  http,
  keccak256,
  stringToHex,
} from 'viem'
import { sendTransactionSync } from 'viem/actions'
import { afterAll, afterEach, vi } from 'vitest'
import { devAuthority } from '../../../src/devchain/initializeToken.js'
import { sendAs } from '../../../src/devchain/sendAs.js'
import { deployFamilies } from './families.js'
import { account, sign } from './signing.js'

/** The chain of one test file: it starts with the file and stops after it. */
export const chain = await startDevChain({ blockTime: 0 })
afterAll(() => chain.stop())
afterEach(() => {
  vi.useRealTimers()
})

export const { merchant, relayer, test: node } = chain.clients
export const families = await deployFamilies(chain)
export const { circle22 } = families
export const direct = createClient({
  transport: http(chain.urls.http, { retryCount: 0 }),
})

export type Request = { method: string; params: readonly unknown[] }

/** A client that counts what it asks; with `plain`, without overrides. */
export function newClient({
  plain = false,
} = {}): Client & { asked: Request[] } {
  const asked: Request[] = []
  const request = ({ method, params = [] }: Request) => {
    asked.push({ method, params })
    const kept = plain && method === 'eth_call' ? params.slice(0, 2) : params
    return direct.request({ method, params: kept } as never)
  }
  return Object.assign(
    createClient({ transport: custom({ request }, { retryCount: 0 }) }),
    {
      asked,
    },
  )
}

export const signer = account('token payer')
export const payer = signer.address
for (const { mint } of Object.values(families)) await mint(payer, 10n ** 9n)

let nonces = 0
export const freshNonce = (): Hex => keccak256(stringToHex(`token ${nonces++}`))

const familyOf = (token: Address) => {
  const family = Object.values(families).find((it) => it.token === token)
  if (!family) throw new Error(`No family has ${token}.`)
  return family
}

export function payment(token: Address, nonce = freshNonce()): Payment {
  return {
    primaryType: 'TransferWithAuthorization',
    domain: familyOf(token).domain,
    message: {
      from: payer.toLowerCase() as Address,
      to: merchant.account.address.toLowerCase() as Address,
      value: 1n,
      validAfter: 0n,
      validBefore: 2n ** 40n,
      nonce,
    },
  }
}

/** Uses a nonce and gives it. */
export async function spend(token: Address): Promise<Hex> {
  const unsigned = payment(token)
  const signature = await sign(signer, unsigned)
  const { to, data } = captureCall({ payment: { ...unsigned, signature } })
  await sendTransactionSync(relayer, { to, data })
  return unsigned.message.nonce
}

export async function rename(token: Address, name: string): Promise<void> {
  const { abi } = devContracts.fiatTokenV2_2
  const call = { address: token, abi, functionName: 'updateName', args: [name] }
  await sendAs(chain.clients, { from: devAuthority, calls: [call] })
}
