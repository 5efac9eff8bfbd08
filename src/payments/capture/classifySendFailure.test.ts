import { expect, test } from 'vitest'
import type { NodeFailure } from '../../chain/rpc/types.js'
import { classifySendFailure, type SendStatus } from './classifySendFailure.js'

/**
 * Error texts, from the source code of the nodes. Their code is -32000 unless
 * another one is given.
 */
const wordings: Readonly<
  Record<string, readonly (readonly [SendStatus, string, number?])[]>
> = {
  Geth: [
    ['known', 'already known'],
    ['known', 'known transaction: 0x…'],
    [
      'nonceTooLow',
      'nonce too low: address 0x336394A3219e71D9d9bd18201d34E95C1Bb7122C, tx: 8089 state: 8090',
    ],
    ['nonceTooLow', 'nonce too low: next nonce 78, tx nonce 44'],
    ['underpriced', 'transaction underpriced'],
    [
      'underpriced',
      'transaction underpriced: tip needed 1000000, tip permitted 1',
    ],
    [
      'underpriced',
      'transaction gas price below minimum: gas tip cap 0, minimum needed 1',
    ],
    [
      'underpriced',
      'max fee per gas less than block base fee: address 0x336394A3219e71D9d9bd18201d34E95C1Bb7122C, maxFeePerGas: 1, baseFee: 875000000',
    ],
    ['replacementUnderpriced', 'replacement transaction underpriced'],
    [
      'replacementUnderpriced',
      'replacement transaction underpriced: new tx gas fee cap 10 < 12 queued',
    ],
    ['poolFull', 'txpool is full'],
    ['poolFull', 'account limit exceeded'],
    ['poolFull', 'account limit exceeded: pooled 16 txs'],
    ['poolFull', 'future transaction tries to replace pending'],
    ['poolFull', 'address already reserved'],
    ['poolFull', 'in-flight transaction limit reached for delegated accounts'],
    ['poolFull', 'gapped-nonce tx from delegated accounts'],
    ['poolFull', 'nonce too high: address 0x…, tx: 9 state: 7'],
    ['insufficientFunds', 'insufficient funds for gas * price + value'],
    [
      'insufficientFunds',
      'insufficient funds for gas * price + value: balance 1, tx cost 2, overshot 1',
    ],
    ['insufficientFunds', 'insufficient funds for transfer'],
    ['insufficientFunds', 'transaction would cause overdraft'],
    ['refused', 'exceeds block gas limit'],
    ['refused', 'intrinsic gas too low: gas 20000, minimum needed 21000'],
    ['refused', 'invalid sender'],
    ['refused', 'oversized data'],
    ['refused', 'max priority fee per gas higher than max fee per gas'],
    ['refused', 'tx fee (1.10 ether) exceeds the configured cap (1.00 ether)'],
    ['refused', 'transaction type not supported'],
    ['refused', 'rlp: expected input list for types.LegacyTx'],
    ['unclear', 'context deadline exceeded'],
  ],
  Reth: [
    ['known', 'already known'],
    ['known', '[0x…]: already imported'],
    ['nonceTooLow', 'nonce too low: next nonce 16, tx nonce 15'],
    ['underpriced', 'transaction underpriced'],
    ['underpriced', 'transaction feeCap 1 below chain minimum'],
    ['replacementUnderpriced', 'replacement transaction underpriced'],
    [
      'replacementUnderpriced',
      'insufficient gas price to replace existing transaction',
    ],
    ['poolFull', 'txpool is full', -32003],
    [
      'poolFull',
      'rejected due to 0x336394A3219e71D9d9bd18201d34E95C1Bb7122C being identified as a spammer',
    ],
    ['poolFull', 'transaction discarded outright due to pool size constraints'],
    ['poolFull', 'in-flight transaction limit reached for delegated accounts'],
    [
      'insufficientFunds',
      'insufficient funds for gas * price + value: have 1 want 2',
    ],
    ['insufficientFunds', 'transaction overdraws from account'],
    [
      'refused',
      "transaction's gas limit 60000000 exceeds block's gas limit 30000000",
    ],
    ['refused', 'input data too large'],
  ],
  Nethermind: [
    ['known', 'AlreadyKnown', -32010],
    ['known', 'already known'],
    ['nonceTooLow', 'OldNonce, Current nonce: 22, nonce of rejected tx: 17'],
    ['underpriced', 'FeeTooLowToCompete', -32010],
    [
      'underpriced',
      'FeeTooLow, MaxFeePerGas too low. MaxFeePerGas: 50, BaseFee: 100',
    ],
    ['replacementUnderpriced', 'ReplacementNotAllowed', -32010],
    ['poolFull', 'NonceGap, Future nonce. Expected nonce: 10'],
    ['poolFull', 'nonce too far in future'],
    ['poolFull', 'NonceTooFarInFuture', -32010],
    ['poolFull', 'delegation nonce gap'],
    ['poolFull', 'NotCurrentNonceForDelegation', -32010],
    ['poolFull', 'DelegatorHasPendingTx', -32010],
    ['poolFull', 'delegation authority has pending transaction'],
    [
      'insufficientFunds',
      'InsufficientFunds, Account balance: 4740799397601480913, cumulative cost: 22019342038993800000',
    ],
    ['refused', 'gas limit reached'],
    ['refused', 'sender not an eoa'],
    ['refused', 'transaction too large'],
    ['unclear', 'node is syncing'],
  ],
  Besu: [
    ['known', 'Known transaction'],
    ['nonceTooLow', 'Nonce too low', -32001],
    ['underpriced', 'Gas price below configured minimum gas price', -32009],
    ['underpriced', 'Gas price below current base fee', -32009],
    ['replacementUnderpriced', 'Replacement transaction underpriced'],
    ['poolFull', 'Transaction nonce is too distant from current sender nonce'],
    ['poolFull', 'An invalid transaction with a lower nonce exists'],
    ['insufficientFunds', 'Upfront cost exceeds account balance', -32004],
    ['refused', 'Transaction gas limit exceeds block gas limit', -32005],
    ['refused', 'Invalid signature', -32002],
    ['refused', 'Intrinsic gas exceeds gas limit', -32003],
    ['refused', 'Sender account not authorized to send transactions', -32007],
    ['refused', 'Transaction fee cap exceeded'],
    ['refused', 'Max priority fee per gas exceeds max fee per gas'],
    ['refused', 'Wrong chainId'],
    ['unclear', 'Initial sync is still in progress', -32008],
    ['unclear', 'Timeout expired', -32603],
  ],
  Erigon: [
    ['known', 'existing txn with same hash'],
    ['known', 'existing tx with same hash'],
    ['known', 'mined'],
    ['nonceTooLow', 'nonce too low'],
    ['underpriced', 'underpriced'],
    ['underpriced', 'fee too low'],
    ['replacementUnderpriced', 'could not replace existing tx'],
    ['replacementUnderpriced', 'replaced by transaction with higher tip'],
    ['poolFull', 'spammer'],
    ['poolFull', 'pending sub-pool is full'],
    ['poolFull', 'baseFee sub-pool is full'],
    ['poolFull', 'queued sub-pool is full'],
    ['insufficientFunds', 'insufficient funds'],
    ['refused', 'IntrinsicGas'],
    ['refused', 'RLPTooLong'],
    ['refused', 'gas limit is too high'],
  ],
  anvil: [
    ['known', 'transaction already imported', -32003],
    ['nonceTooLow', 'nonce too low', -32003],
    ['replacementUnderpriced', 'replacement transaction underpriced', -32003],
    ['insufficientFunds', 'Insufficient funds for gas * price + value', -32003],
    ['underpriced', 'max fee per gas less than block base fee', -32003],
    ['refused', 'invalid chain id for signer', -32003],
  ],
  rollups: [
    [
      'known',
      "failed to forward tx to sequencer, please try again. Error message: 'already known'",
    ],
    [
      'nonceTooLow',
      "failed to forward tx to sequencer, err: 'nonce too low: next nonce 80, tx nonce 74'",
    ],
    [
      'replacementUnderpriced',
      "failed to forward tx to sequencer, please try again. Error message: 'replacement transaction underpriced'",
    ],
    ['unclear', 'failed to forward tx to sequencer: Post "(url) EOF'],
    ['unclear', '502 Bad Gateway: upstream connect error'],
    ['unclear', 'upstream request timeout'],
    ['underpriced', 'gas price too low'],
    ['underpriced', 'gas price less than block base fee'],
    ['insufficientFunds', 'not enough funds for gas'],
    ['nonceTooLow', 'invalid transaction nonce'],
    ['poolFull', 'sequencer pending tx pool full, please try again'],
    ['poolFull', 'queue full'],
    [
      'poolFull',
      'gapped-nonce tx from delegated accounts is temporarily not allowed',
    ],
  ],
  OpenEthereum: [
    ['known', 'Transaction with the same hash was already imported'],
    ['nonceTooLow', 'Transaction nonce is too low. Try incrementing the nonce'],
    [
      'replacementUnderpriced',
      'Transaction gas price 100wei is too low. There is another transaction with same nonce in the queue with gas price 150wei',
    ],
    [
      'poolFull',
      'There are too many transactions in the queue. Your transaction was dropped due to limit. Try increasing the fee',
    ],
    [
      'underpriced',
      "Transaction gas price is too low. It does not satisfy your node's minimal gas price",
    ],
    [
      'insufficientFunds',
      'Insufficient balance for transaction. Balance=100.25, Cost=200.50',
    ],
  ],
}

const cases = Object.entries(wordings).flatMap(([node, known]) =>
  known.map(([status, words, code = -32000]) => ({
    node,
    words,
    code,
    status,
  })),
)

test.each(cases)('$node, $words: $status', ({ words, code, status }) => {
  expect(classifySendFailure({ words, code })).toBe(status)
})

test.each<[string, NodeFailure]>([
  ['silence', { words: 'no answer in 10000 ms' }],
  ['no connection', { words: 'no connection' }],
  ['a batch that leaves it out', { words: 'no answer has the id of the call' }],
  ['half an answer', { words: 'the answer has neither result nor error' }],
  ['no JSON', { words: 'the body is not JSON' }],
  ['a rate limit', { code: -32005, words: 'rate limit exceeded' }],
  ['HTTP 429', { status: 429, words: 'HTTP 429' }],
  ['HTTP 503', { status: 503, words: 'HTTP 503' }],
  ['an internal error', { code: -32603, words: 'internal error' }],
  ['a gateway', { code: -32013, status: 500, words: 'invalid response' }],
  ['a gateway, in a batch', { code: -32013, words: 'invalid response' }],
  ['a large answer', { code: -32020, status: 500, words: 'too large' }],
])('%s leaves open whether the bytes were taken', (_, failure) => {
  expect(classifySendFailure(failure)).toBe('unclear')
})

test.each<[string, NodeFailure]>([
  ['HTTP 401', { status: 401, words: 'HTTP 401' }],
  ['an unknown method', { code: -32601, words: 'method not found' }],
  ['words nobody knows', { code: -32000, words: 'the moon is full' }],
])('%s is a refusal', (_, failure) => {
  expect(classifySendFailure(failure)).toBe('refused')
})
