import { checkMembers } from '../core/checkMembers.js'
import { checkSignal } from '../core/checkSignal.js'
import { InvalidFieldError, shown } from '../core/errors.js'
import type { PaymentHandlerParameters } from './types.js'

export type SettledParameters = {
  basePath: string
  authorize: PaymentHandlerParameters['authorize']
  corsOrigins: readonly string[]
  /**
   * Origins whose pages may send requests. Absent to allow the origin of each
   * request's own URL.
   */
  origins: readonly string[] | undefined
  subscriptions: PaymentHandlerParameters['subscriptions']
  stopping: AbortSignal | undefined
}

/**
 * Checks the parameters of `createPaymentHandler`.
 *
 * @throws {@link InvalidFieldError}
 */
export function parseParameters(
  parameters: PaymentHandlerParameters,
): SettledParameters {
  checkMembers(parameters, [
    'basePath',
    'authorize',
    'cors',
    'origins',
    'subscriptions',
    'stopping',
  ])
  const given: PaymentHandlerParameters = Object(parameters)
  const { basePath = '', authorize, cors, origins } = given
  const { subscriptions, stopping } = given
  if (cors) checkMembers(cors, { origins: true }, 'cors')
  const isPath =
    basePath === '' ||
    (typeof basePath === 'string' &&
      /^(\/[^/?#]+)+$/.test(basePath) &&
      new URL(basePath, 'http://localhost').pathname === basePath)
  if (!isPath)
    throw new InvalidFieldError(
      'basePath',
      shown(basePath),
      'empty or a path such as /payments, without a slash at the end',
    )
  if (typeof authorize !== 'function')
    throw new InvalidFieldError('authorize', authorize, 'a function')
  if (subscriptions && typeof subscriptions.charge !== 'function')
    throw new InvalidFieldError(
      'subscriptions',
      subscriptions,
      'the object that createSubscriptions returned',
    )
  checkSignal(stopping, 'stopping')
  return {
    basePath,
    authorize,
    corsOrigins: parseOrigins(cors?.origins ?? [], 'cors.origins'),
    origins: origins && parseOrigins(origins, 'origins'),
    subscriptions,
    stopping,
  }
}

/**
 * Parses a list of origins. Refuses `*`, which would let pages of every site
 * use the routes.
 */
function parseOrigins(
  origins: readonly string[],
  field: string,
): readonly string[] {
  if (!Array.isArray(origins))
    throw new InvalidFieldError(field, origins, 'a list of origins')
  for (const [index, origin] of origins.entries())
    if (!isOrigin(origin))
      throw new InvalidFieldError(
        `${field}[${index}]`,
        origin,
        'an origin such as https://shop.example',
      )
  return [...origins]
}

function isOrigin(text: unknown): boolean {
  try {
    return typeof text === 'string' && new URL(text).origin === text
  } catch {
    return false
  }
}
