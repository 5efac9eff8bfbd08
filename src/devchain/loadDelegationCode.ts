import { createRequire } from 'node:module'
import { type Hex, isHex } from 'viem'
import { DelegationPackageNotFoundError } from './errors.js'
import { findPlaces } from './findPlaces.js'

/**
 * The npm package with MetaMask's contracts, and the only version that this
 * library supports.
 */
const delegationPackage = '@metamask/delegation-abis'
const delegationPackageVersion = '2.0.0'

/** Creation codes, without the arguments of their constructors. */
type DelegationCode = Record<keyof typeof names, Hex>

/** The contracts' names in the package. */
const names = {
  delegate: 'EIP7702StatelessDeleGator',
  manager: 'DelegationManager',
  targets: 'AllowedTargetsEnforcer',
  methods: 'AllowedMethodsEnforcer',
  nonce: 'NonceEnforcer',
  timestamp: 'TimestampEnforcer',
  exactCall: 'ExactCalldataEnforcer',
} as const

/**
 * Loads the creation codes of MetaMask's contracts from the npm package.
 *
 * @throws {@link DelegationPackageNotFoundError} when it is not installed in
 * this version.
 */
export async function loadDelegationCode(
  places?: readonly string[],
): Promise<DelegationCode> {
  for (const place of places ?? (await findPlaces())) {
    const code = loadFrom(createRequire(place))
    if (code) return code
  }
  throw new DelegationPackageNotFoundError({
    package: delegationPackage,
    version: delegationPackageVersion,
  })
}

function loadFrom(require: NodeJS.Require): DelegationCode | undefined {
  try {
    const { version } = require(`${delegationPackage}/package.json`)
    if (version !== delegationPackageVersion) return undefined
    const codes = require(`${delegationPackage}/bytecode`)
    const found = Object.entries(names).map(([key, name]) => [key, codes[name]])
    return found.every(([, code]) => isHex(code))
      ? (Object.fromEntries(found) as DelegationCode)
      : undefined
  } catch {
    // The package is not installed here.
    return undefined
  }
}
