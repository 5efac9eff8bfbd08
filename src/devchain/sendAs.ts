import { type Abi, type Address, encodeFunctionData, type Hash } from 'viem'
import { findCause } from '../core/findCause.js'
import { DevCallRevertedError } from './errors.js'
import type { Lock } from './sequencer/createLock.js'
import type { DevClients } from './types.js'

type ContractCall = {
  address: Address
  abi: Abi
  functionName: string
  args: readonly unknown[]
}

/**
 * Clients to send with. Pass `lock` if several callers send at the same time.
 */
export type SendingClients = Pick<DevClients, 'public' | 'test'> & {
  lock?: Lock | undefined
}

/**
 * Sends calls in order from an account without its private key, and mines them.
 * All go into one block, unless the node mines each transaction on arrival.
 *
 * @throws {@link DevCallRevertedError} for the first call that reverted.
 */
export async function sendAs(
  { public: client, test, lock }: SendingClients,
  { from, calls }: { from: Address; calls: readonly ContractCall[] },
): Promise<void> {
  const send = async (): Promise<Hash[]> => {
    await test.setBalance({ address: from, value: 10n ** 18n })
    const sent: Hash[] = []
    for (const call of calls) {
      const { address: to } = call
      const data = encodeFunctionData(call)
      // A fixed gas limit. An estimate would run before the earlier calls are
      // mined, and might fail without their effects.
      const gas = 1_000_000n
      sent.push(await test.sendUnsignedTransaction({ from, to, data, gas }))
    }
    return sent
  }
  // Without the lock, the node could give two simultaneous calls the same
  // account nonce, and one would replace the other.
  const hashes = await (lock ? lock.exclusive(send) : send())
  await test.mine({ blocks: 1 })
  for (const [index, hash] of hashes.entries()) {
    const { status } = await client.waitForTransactionReceipt({ hash })
    const call = calls[index]
    if (status === 'success' || !call) continue
    const { functionName } = call
    const reason = await client
      .simulateContract({ ...call, account: from })
      .then(() => 'no reason given', revertReason)
    throw new DevCallRevertedError({ functionName, reason })
  }
}

function revertReason(error: unknown): string {
  const { reason, data } = Object(
    findCause(error, 'ContractFunctionRevertedError'),
  )
  return reason ?? data?.errorName ?? 'no reason given'
}
