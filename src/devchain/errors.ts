import type { Address } from 'viem'
import { CountersignError } from '../core/CountersignError.js'

/** No anvil program was found. */
export class AnvilNotFoundError extends CountersignError {
  override readonly name = 'AnvilNotFoundError'
  override readonly retryable = false

  constructor({ binary }: { binary: string }) {
    super(
      `No anvil program at "${binary}": install Foundry, add the npm package @foundry-rs/anvil-<platform>-<arch>, or pass its path as binary.`,
      { binary },
    )
  }
}

/** The optional peer `@viem/anvil` is not installed, or too old. */
export class AnvilPackageNotFoundError extends CountersignError {
  override readonly name = 'AnvilPackageNotFoundError'
  override readonly retryable = false

  constructor(problem: string) {
    super(`A development chain ${problem}.`, { problem })
  }
}

/**
 * The npm package with Circle's contracts, which `token: 'usdc'` needs, is not
 * installed.
 */
export class UsdcPackageNotFoundError extends CountersignError {
  override readonly name = 'UsdcPackageNotFoundError'
  override readonly retryable = false

  constructor(facts: { package: string; version: string }) {
    const wanted = `${facts.package}@${facts.version}`
    super(
      `token: 'usdc' needs the npm package ${wanted}: install it with npm install --save-dev ${wanted}.`,
      facts,
    )
  }
}

/**
 * The npm package with MetaMask's contracts, which `batches: true` needs, is not
 * installed.
 */
export class DelegationPackageNotFoundError extends CountersignError {
  override readonly name = 'DelegationPackageNotFoundError'
  override readonly retryable = false

  constructor(facts: { package: string; version: string }) {
    const wanted = `${facts.package}@${facts.version}`
    super(
      `batches: true needs the npm package ${wanted}: install it with npm install --save-dev ${wanted}.`,
      facts,
    )
  }
}

/**
 * A control function of the chain was called, but the chain was not started
 * with the option that it needs.
 */
export class DevChainModeError extends CountersignError {
  override readonly name = 'DevChainModeError'
  override readonly retryable = false

  constructor({ control, needs }: { control: string; needs: string }) {
    super(`${control} needs a chain started with ${needs}.`, { control, needs })
  }
}

/** The anvil program ended or timed out before it accepted connections. */
export class AnvilStartError extends CountersignError {
  override readonly name = 'AnvilStartError'
  override readonly retryable = true

  constructor({ reason }: { reason: string }) {
    // Removes URLs, because the URL of a node to fork often contains an access
    // key.
    const shown = reason
      .replace(/\b(https?|wss?):\/\/[^\s)]+/g, '(url)')
      .replace(/\s+/g, ' ')
      .trim()
    super(`anvil did not start: ${shown}.`, { reason: shown })
  }
}

/** The forked network has no token at the expected address. */
export class DevTokenNotFoundError extends CountersignError {
  override readonly name = 'DevTokenNotFoundError'
  override readonly retryable = false

  constructor({ network, token }: { network: string; token: Address }) {
    super(`The forked chain has no ${network} token at ${token}.`, {
      network,
      token,
    })
  }
}

/** A call or deployment on the development chain reverted. */
export class DevCallRevertedError extends CountersignError {
  override readonly name = 'DevCallRevertedError'
  override readonly retryable = false

  constructor({
    functionName,
    reason,
  }: {
    functionName: string
    reason: string
  }) {
    super(`${functionName} reverted: ${reason}.`, { functionName, reason })
  }
}
