import { type Client, encodeFunctionData } from 'viem'
import type { BlockSelector } from '../../chain/rpc/requestNode.js'
import { runCalls } from '../../chain/state/runCalls.js'
import { runPlainCalls } from '../../chain/state/runPlainCalls.js'
import type { Call, RunAnswers } from '../../chain/state/types.js'
import { unwrapSignature } from '../../core/signature.js'
import { selectors } from '../../core/tokenAbi.js'
import { word } from '../../core/words.js'
import { balanceCall } from '../../payments/verify/rehearse.js'
import { stateCalls } from './getSpendPermission.js'
import { approveCall, type ManagerCall, spendCall } from './spendCalls.js'
import { spendPermissionAbi as abi } from './spendPermissionAbi.js'
import { toStruct } from './spendPermissionTypedData.js'
import type { SignedSpendPermission, SpendPermission } from './types.js'
import {
  type Deployment,
  getAddressSelector,
  getWalletCode,
  isOwnerSelector,
  parseDeployment,
  verifier,
  type WalletCode,
} from './walletCode.js'

type RehearsedFact =
  | 'approved'
  | 'revoked'
  | 'last'
  | 'manager'
  | 'hash'
  | 'decimals'
  | 'funds'
  | 'balance'
  | 'predicted'
  | 'verifier'
  | 'owner'

export type RehearsedPermission = {
  answers: RunAnswers<RehearsedFact>
  wallet: WalletCode
  deployment: Deployment | undefined
}

export type RehearsePermissionParameters = SignedSpendPermission & {
  /** Token units of the first charge. */
  value: bigint
  block: BlockSelector
  /** Most gas that the charge may use. */
  maxGas: bigint
}

/** Gas to deploy a wallet with a few owners, and to approve. */
const approvalGas = 1_500_000

/**
 * Simulates approval and first charge with the manager's own code, sent by the
 * spender.
 */
export async function rehearsePermission(
  client: Client,
  { permission, signature, value, block, maxGas }: RehearsePermissionParameters,
): Promise<RehearsedPermission> {
  const { account, spender, token } = permission.message
  const deployment = parseDeployment(signature)
  const wallet = await getWalletCode(client, account, block)
  const usable = usableSignature(signature, wallet)
  const answers = await runCalls(client, {
    from: spender,
    steps: [
      stepOf(approveCall({ permission, signature: usable }), approvalGas),
      ownerCall(permission),
      stepOf(spendCall(permission, { value, chargeId: '' }), Number(maxGas)),
      balanceCall(token, spender),
    ],
    calls: factCalls(permission, deployment),
    block,
    fallback: runPlainCalls,
  })
  return { answers, wallet, deployment }
}

/**
 * Returns the signature inside an ERC-6492 wrapper if the wallet is deployed,
 * so that the manager's validator calls no factory. If unwrapping fails,
 * returns `0x`, which no wallet accepts.
 */
export function usableSignature(
  signature: SignedSpendPermission['signature'],
  wallet: WalletCode,
): SignedSpendPermission['signature'] {
  return wallet.kind === 'none'
    ? signature
    : (unwrapSignature(signature) ?? '0x')
}

function stepOf({ to, data }: ManagerCall, gas: number): Call {
  return { target: to, data: data.slice(2), gas }
}

function ownerCall({ domain, message }: SpendPermission): Call {
  return {
    target: message.account,
    data: isOwnerSelector + word(domain.verifyingContract),
    gas: 100_000,
  }
}

function factCalls(
  permission: SpendPermission,
  deployment: Deployment | undefined,
): Record<RehearsedFact, Call> {
  const { domain, message } = permission
  const { account, spender, token } = message
  const manager = domain.verifyingContract
  return {
    ...stateCalls(permission),
    manager: { target: manager, data: '', gas: 0 },
    hash: {
      target: manager,
      data: encodeFunctionData({
        abi,
        functionName: 'getHash',
        args: [toStruct(message)],
      }).slice(2),
      gas: 100_000,
    },
    decimals: { target: token, data: selectors.decimals, gas: 100_000 },
    owner: ownerCall(permission),
    funds: balanceCall(token, account),
    balance: balanceCall(token, spender),
    verifier: { target: verifier, data: '', gas: 0 },
    predicted: {
      target: deployment?.factory ?? manager,
      data: deployment ? getAddressSelector + deployment.arguments : '',
      gas: deployment ? 500_000 : 0,
    },
  }
}
