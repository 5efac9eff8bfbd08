import type { StartDevChainParameters } from '../../devchain/types.js'
import { UsageError } from '../terminal/errors.js'
import { jsonOption, parseNumberOption } from '../terminal/options.js'
import { createPrinter } from '../terminal/print.js'
import type { Command } from '../terminal/types.js'

const kinds = ['flashblocks', 'fastBlocks', 'none'] as const

export const devCommand: Command = {
  name: 'dev',
  summary: 'Starts a local chain with USDC and funded wallets.',
  positionals: '',
  mostPositionals: 0,
  options: {
    ...jsonOption,
    port: {
      type: 'string',
      value: 'PORT',
      help: 'Port on which the node listens. Default: 8545.',
    },
    fork: {
      type: 'string',
      value: 'URL',
      help: 'A node of a chain to fork, with its real token.',
    },
    preconfirmations: {
      type: 'string',
      value: 'KIND',
      help: 'flashblocks, fastBlocks or none. Default: none.',
    },
    usdc: {
      type: 'boolean',
      help: 'Use Circle’s own contracts instead of a small token like them.',
    },
  },
  details: [
    'Runs until you interrupt it, and then forgets everything. Needs the packages @viem/anvil and an anvil program; docs/devchain.md names them.',
    'The keys it shows are public: send nothing real to their accounts.',
  ],
  example: 'npx countersign dev --preconfirmations flashblocks',
  run: async ({ io, text, flag }) => {
    const print = createPrinter(io)
    // Imported here and not at the top, because it loads all of viem, which
    // would slow down the start of every other command.
    const { startDevChain } = await import('../../devchain/startDevChain.js')
    const { devKey } = await import('../../devchain/devAccounts.js')
    const chain = await startDevChain({
      port: Number(parseNumberOption('port', text('port')) ?? 8545n),
      preconfirmations: parseKind(text('preconfirmations')),
      forkUrl: text('fork'),
      token: flag('usdc') ? 'usdc' : 'development',
    })
    try {
      const { payer, merchant } = chain.clients
      const wallets = [
        { name: 'payer', address: payer.account.address, key: devKey(0) },
        { name: 'merchant', address: merchant.account.address, key: devKey(1) },
      ]
      const { http: url } = chain.urls
      const { token } = chain
      if (flag('json'))
        print.json({ url, chainId: chain.chain.id, token, wallets })
      else {
        print.line(`chain ${chain.chain.id} at ${url}`)
        print.line(`USDC   ${token}`)
        for (const { name, address, key } of wallets) {
          print.line(`${name.padEnd(8)} ${address}`)
          print.line(`         key ${key}, which is public`)
        }
        print.line('The payer has 10,000 USDC. Press Ctrl+C to end.')
      }
      await io.untilInterrupted()
    } finally {
      await chain.stop()
    }
    return 0
  },
}

function parseKind(
  text: string | undefined,
): StartDevChainParameters['preconfirmations'] {
  if (text === undefined) return undefined
  const kind = kinds.find((one) => one === text)
  if (kind) return kind
  throw new UsageError(`--preconfirmations must be one of ${kinds.join(', ')}.`)
}
