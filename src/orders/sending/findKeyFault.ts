import type { Client } from 'viem'
import { CaptureKeyError } from '../../batches/keys/errors.js'
import { getKeyStatus } from '../../batches/keys/keyStatus.js'
import type { Permission } from '../../batches/keys/permission.js'

type Fault = { error: CaptureKeyError; at: number }

const faults = /* @__PURE__ */ new WeakMap<Permission, Fault>()

/** Milliseconds in which a key that cannot capture is not asked about again. */
const patience = 10_000

/** Returns the fault of a key if it was found in the last ten seconds. */
export function knownKeyFault(key: Permission): CaptureKeyError | undefined {
  const last = faults.get(key)
  const isNew = last && performance.now() - last.at < patience
  return isNew ? last.error : undefined
}

/**
 * Finds out why a key cannot capture now; `undefined` if it can. While it cannot,
 * its payments wait, however many there are, and cost no requests.
 *
 * @throws {@link NodeError} {@link NodeAnswerError} when the node does not
 * answer, or its answer is malformed.
 */
export async function findKeyFault(
  client: Client,
  key: Permission,
): Promise<CaptureKeyError | undefined> {
  const known = knownKeyFault(key)
  if (known) return known
  const status = await getKeyStatus(client, key)
  if (status === 'active') {
    faults.delete(key)
    return undefined
  }
  const { treasury, key: account } = key
  const error = new CaptureKeyError({ reason: status, treasury, key: account })
  faults.set(key, { error, at: performance.now() })
  return error
}
