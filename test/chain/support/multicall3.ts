import type { DevChain } from 'countersign/devchain'
import { putMulticall as put } from '../../../src/devchain/putBatches.js'

/** Puts Multicall3 where chains have it. */
export function putMulticall({ clients }: Pick<DevChain, 'clients'>) {
  return put(clients.test)
}
