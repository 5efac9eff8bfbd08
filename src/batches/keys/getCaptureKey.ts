import type { Client, Hex } from 'viem'
import { checkMembers } from '../../core/checkMembers.js'
import { getClientChain } from '../delegates/getDelegation.js'
import { getKeyStatus } from './keyStatus.js'
import { parseSignedPermission } from './permission.js'
import type { CaptureKey, CaptureKeyStatus } from './types.js'

/** Parameters of {@link getCaptureKey}. */
export type GetCaptureKeyParameters = {
  /** The permission that `createCaptureKey` returned. */
  permission: Hex
}

/**
 * Decodes a permission, and gets whether its key can capture now.
 *
 * Reads the newest block, which a reorganization can still undo.
 *
 * @throws {@link InvalidFieldError} when the permission is not one of
 * `createCaptureKey`, or its treasury did not sign it for the client's chain.
 * @throws {@link NodeError} when the node does not answer.
 * @throws {@link NodeAnswerError} when its answer is malformed, or it is on
 * another chain than the client.
 *
 * @example
 * ```ts
 * import { getCaptureKey } from 'countersign/batches'
 * import type { Hex, PublicClient } from 'viem'
 *
 * async function canCapture(client: PublicClient, permission: Hex) {
 *   const { status } = await getCaptureKey(client, { permission })
 *   return status === 'active'
 * }
 * ```
 */
export async function getCaptureKey(
  client: Client,
  parameters: GetCaptureKeyParameters,
): Promise<CaptureKey & { status: CaptureKeyStatus }> {
  checkMembers(parameters, ['permission'])
  const chainId = await getClientChain(client)
  const found = await parseSignedPermission(parameters?.permission, {
    chainId,
    field: 'permission',
  })
  const { nonce: _, ...key } = found
  return { ...key, status: await getKeyStatus(client, found) }
}
