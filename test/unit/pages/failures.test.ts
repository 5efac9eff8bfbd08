import {
  SigningDeclinedError,
  UnexpectedPaymentError,
  WalletError,
  WrongWalletError,
} from 'countersign'
import { ProblemError, ServerError } from 'countersign/client'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import {
  explainFailure,
  NotOpen,
  UnknownNetwork,
  WrongAccount,
  WrongNetwork,
} from '../../../src/pages/web/failures.js'

beforeEach(() => {
  vi.stubGlobal('navigator', { onLine: true })
})
afterEach(() => {
  vi.unstubAllGlobals()
})

const account = '0x00000000000000000000000000000000000000a1'

const problemOf = (status: number, reason: string): ProblemError =>
  new ProblemError({
    reason,
    status,
    detail: 'Because.',
    field: undefined,
    retryAfter: undefined,
  })

test.each([
  [new SigningDeclinedError(), 'declined', undefined],
  [Object.assign(new Error(), { code: 4001 }), 'declined', undefined],
  [new WrongNetwork(), 'wrongNetwork', 'switchNetwork'],
  [
    new WrongWalletError('chainId', 8453, 31337),
    'wrongNetwork',
    'switchNetwork',
  ],
  [new UnknownNetwork(), 'unknownNetwork', undefined],
  [
    new WrongWalletError('account', account, account),
    'wrongAccount',
    'changeAccount',
  ],
  [new WrongAccount(account), 'wrongAccount', 'changeAccount'],
  [problemOf(422, 'insufficientFunds'), 'tooLittle', 'changeAccount'],
  [problemOf(422, 'wrongSigner'), 'wrongSigner', 'changeAccount'],
  [problemOf(422, 'expiresTooSoon'), 'tooLate', undefined],
  [problemOf(409, 'notOpen'), 'changed', undefined],
  [new NotOpen(), 'changed', undefined],
  [problemOf(409, 'captureInFlight'), 'inFlight', undefined],
  [problemOf(422, 'paused'), 'refused', undefined],
  [new UnexpectedPaymentError('value', 2n, 1n), 'unexpected', undefined],
  [new WalletError(-32_002), 'busy', undefined],
  [new WalletError(), 'wallet', 'changeAccount'],
  [new ServerError({ request: 'GET /' }), 'unreachable', undefined],
])('%s is explained by a reason, with what helps', (error, reason, help) => {
  const failure = explainFailure(error)

  expect([failure.reason, failure.help]).toEqual([reason, help])
})

test('a page that is offline does not blame the wallet', () => {
  vi.stubGlobal('navigator', { onLine: false })

  expect(explainFailure(new WalletError())).toEqual({ reason: 'offline' })
})
