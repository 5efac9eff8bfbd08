import { readFileSync } from 'node:fs'
import solc from 'solc'
import type { Abi, Hex } from 'viem'

type Compiled = { abi: Abi; bytecode: Hex }

/** Compiles contracts a single test needs; by name, without files. */
export function compileSolidity(source: string): Record<string, Compiled> {
  const output: {
    errors?: readonly { formattedMessage: string }[]
    contracts?: Record<
      string,
      Record<string, { abi: Abi; evm: { bytecode: { object: string } } }>
    >
  } = JSON.parse(
    solc.compile(
      JSON.stringify({
        language: 'Solidity',
        sources: {
          source: {
            content: `// SPDX-License-Identifier: MIT\npragma solidity ^0.8.26;\n${source}`,
          },
        },
        settings: {
          optimizer: { enabled: true, runs: 200 },
          evmVersion: 'cancun',
          outputSelection: { '*': { '*': ['abi', 'evm.bytecode.object'] } },
        },
      }),
      { import: readPackageSource },
    ),
  )
  const { contracts, errors = [] } = output
  if (errors.length > 0)
    throw new Error(errors.map((it) => it.formattedMessage).join('\n'))
  return Object.fromEntries(
    Object.entries(contracts?.source ?? {}).map(([name, { abi, evm }]) => [
      name,
      { abi, bytecode: `0x${evm.bytecode.object}` },
    ]),
  )
}

/** The source of a contract of an installed package. */
function readPackageSource(path: string): { contents: string } {
  return { contents: readFileSync(`node_modules/${path}`, 'utf8') }
}
