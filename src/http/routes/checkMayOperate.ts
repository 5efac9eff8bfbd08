import { RequestRefusedError } from './errors.js'

/**
 * Refuses a merchant for whom `authorize` does not return `operates: true`.
 *
 * @throws {@link RequestRefusedError}
 */
export function checkMayOperate(operates: boolean): void {
  if (!operates) throw new RequestRefusedError('operationForbidden')
}
