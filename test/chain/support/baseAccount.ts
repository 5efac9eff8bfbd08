import type { DevChain } from 'countersign/devchain'
import { type Address, encodeAbiParameters, type Hex } from 'viem'
import {
  type ToCoinbaseSmartAccountReturnType,
  toCoinbaseSmartAccount,
} from 'viem/account-abstraction'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { mine, sendTransaction, waitForTransactionReceipt } from 'viem/actions'

/** Where Base publishes the manager of spend permissions. */
export const manager: Address = '0xf85210b21cc50302f477ba56686d2019dc9b67ad'

export type BaseAccount = {
  wallet: ToCoinbaseSmartAccountReturnType
  address: Address
  deploy(): Promise<void>
}

/**
 * A wallet as Base makes them, by viem's own implementation: a fresh key and
 * the manager own it. It is not deployed.
 */
export async function createBaseAccount(
  chain: DevChain,
  owners: readonly Address[] = [manager],
): Promise<BaseAccount> {
  const { public: reader, relayer } = chain.clients
  const wallet = await toCoinbaseSmartAccount({
    client: reader,
    owners: [privateKeyToAccount(generatePrivateKey()), ...owners],
    version: '1.1',
  })
  const address = await wallet.getAddress()
  return {
    wallet,
    address: lower(address),
    deploy: async () => {
      const { factory, factoryData } = await wallet.getFactoryArgs()
      if (!factory || !factoryData) throw new Error('The wallet is deployed.')
      await send(chain, {
        account: relayer.account,
        to: factory,
        data: factoryData,
      })
    },
  }
}

/** Wraps a signature with any factory and call. */
export function wrapSignature({
  factory,
  data,
  signature,
}: {
  factory: Address
  data: Hex
  signature: Hex
}): Hex {
  const body = encodeAbiParameters(
    [{ type: 'address' }, { type: 'bytes' }, { type: 'bytes' }],
    [factory, data, signature],
  )
  return `${body}${'6492'.repeat(16)}`
}

/** Sends one transaction, and mines it. */
export async function send(
  chain: DevChain,
  {
    account,
    to,
    data,
  }: {
    account: DevChain['clients']['relayer']['account']
    to: Address
    data: Hex
  },
): Promise<Awaited<ReturnType<typeof waitForTransactionReceipt>>> {
  const { relayer, test, public: reader } = chain.clients
  const hash = await sendTransaction(relayer, {
    account,
    to,
    data,
    gas: 2_000_000n,
  })
  await mine(test, { blocks: 1 })
  return waitForTransactionReceipt(reader, { hash })
}

const lower = (address: Address): Address => address.toLowerCase() as Address
