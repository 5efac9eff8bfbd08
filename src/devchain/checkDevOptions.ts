import { type FieldRule, InvalidFieldError, shown } from '../core/errors.js'
import type { StartDevChainParameters } from './types.js'

/**
 * The largest delay of a timer, in milliseconds. Node fires a timer with a
 * longer delay at once.
 */
const maxMilliseconds = 2_147_483_647

const tokens = ['development', 'usdc']

const modes = ['none', 'flashblocks', 'fastBlocks']

/**
 * Checks the options of a development chain.
 *
 * @throws {@link InvalidFieldError} that names the first invalid option.
 */
export function checkDevOptions({
  port = 0,
  blockTime = 0,
  tick = 0,
  epochBlocks = 1,
  preconfirmations = 'none',
  forkUrl,
  token = 'development',
  spendPermissions = false,
  batches = false,
  channels = false,
}: StartDevChainParameters): void {
  const isPause = (milliseconds: number) =>
    milliseconds >= 0 && milliseconds <= maxMilliseconds
  const checks: readonly (readonly [string, unknown, boolean, FieldRule])[] = [
    [
      'port',
      shown(port),
      Number.isInteger(port) && port >= 0 && port <= 65_535,
      'an integer from 0 to 65535',
    ],
    [
      'blockTime',
      shown(blockTime),
      isPause(blockTime * 1000),
      'seconds: a number of 0 or more',
    ],
    ['tick', shown(tick), isPause(tick), 'milliseconds: a number of 0 or more'],
    [
      'epochBlocks',
      shown(epochBlocks),
      Number.isInteger(epochBlocks) && epochBlocks > 0,
      'a number of blocks: an integer of 1 or more',
    ],
    [
      'preconfirmations',
      shown(preconfirmations),
      modes.includes(preconfirmations),
      modes,
    ],
    ['forkUrl', forkUrl, forkUrl !== '', 'a URL'],
    ['token', shown(token), tokens.includes(token), tokens],
    [
      'token',
      shown(token),
      forkUrl === undefined || token === 'development',
      'left out with forkUrl, since a fork has its own USDC',
    ],
    ...Object.entries({ spendPermissions, batches, channels }).flatMap(
      ([field, put]) =>
        [
          [field, shown(put), typeof put === 'boolean', 'true or false'],
          [
            field,
            shown(put),
            forkUrl === undefined || !put,
            'left out with forkUrl, since a fork has its own contracts',
          ],
        ] as const,
    ),
  ]
  for (const [field, given, fits, rule] of checks)
    if (!fits) throw new InvalidFieldError(field, given, rule)
}
