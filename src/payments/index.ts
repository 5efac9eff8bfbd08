export {
  DomainMismatchError,
  FinalityUnsupportedError,
  NodeAnswerError,
  NodeError,
  UnsupportedTokenError,
} from '../chain/rpc/errors.js'
export {
  type GetAuthorizationStateParameters,
  getAuthorizationState,
} from '../chain/state/getAuthorizationState.js'
export {
  type GetPaymentOutcomeParameters,
  getPaymentOutcome,
  type OutcomeKind,
  type PaymentOutcome,
} from '../chain/state/getPaymentOutcome.js'
export {
  type GetTokenParameters,
  getToken,
  type Token,
} from '../chain/state/getToken.js'
export { formatAmount, parseAmount } from '../core/amount.js'
export { CountersignError } from '../core/CountersignError.js'
export {
  ClockSkewError,
  InvalidAmountError,
  InvalidFieldError,
  NoRandomnessError,
} from '../core/errors.js'
export { type HashPaymentOptions, hashPayment } from '../core/hashPayment.js'
export type { Keccak256 } from '../core/keccak.js'
export { type KnownToken, knownTokens } from '../core/knownTokens.js'
export type { CaptureProof } from '../core/receiptProof.js'
export type { RefusalReason } from '../core/revertReason.js'
export { eip3009Abi } from '../core/tokenAbi.js'
export type {
  AnyPayment,
  AnySignedPayment,
  CancelAuthorization,
  Cancellation,
  Finality,
  Payment,
  PaymentAuthorization,
  PrimaryType,
  RejectionReason,
  SignedCancellation,
  SignedPayment,
  TokenDomain,
  VerifiedAt,
} from '../core/types.js'
export {
  type CancelPaymentParameters,
  cancelPayment,
} from './capture/cancelPayment.js'
export {
  type CapturePaymentParameters,
  capturePayment,
} from './capture/capturePayment.js'
export {
  type CapturePaymentSyncParameters,
  capturePaymentSync,
} from './capture/capturePaymentSync.js'
export {
  AccountError,
  CancelRejectedError,
  CaptureRejectedError,
  CaptureRevertedError,
  OutcomeTimeoutError,
  SendError,
} from './capture/errors.js'
export {
  type SignCaptureParameters,
  signCapture,
} from './capture/signCapture.js'
export type { SignedTransaction } from './capture/signTransaction.js'
export {
  type WaitForOutcomeParameters,
  waitForOutcome,
} from './capture/waitForOutcome.js'
export { eip3009, type PaymentKind } from './kind.js'
export {
  type BuildCancellationParameters,
  buildCancellation,
} from './message/buildCancellation.js'
export {
  type BuildPaymentParameters,
  buildPayment,
} from './message/buildPayment.js'
export { type CancelCallParameters, cancelCall } from './message/cancelCall.js'
export {
  type CaptureCallParameters,
  captureCall,
  type TokenCall,
} from './message/captureCall.js'
export { decodePayment, encodePayment } from './message/codec.js'
export type { SigningKind } from './message/kind.js'
export {
  type PaymentTypedData,
  paymentTypedData,
} from './message/paymentTypedData.js'
export {
  type PreparePaymentParameters,
  preparePayment,
} from './message/preparePayment.js'
export {
  SigningDeclinedError,
  UnexpectedPaymentError,
  WalletError,
  WrongWalletError,
} from './sign/errors.js'
export {
  type SignCancellationExpectation,
  type SignCancellationParameters,
  signCancellation,
} from './sign/signCancellation.js'
export {
  type SignCeilingExpectation,
  type SignPaymentExpectation,
  type SignPaymentParameters,
  signPayment,
} from './sign/signPayment.js'
export type { Wallet } from './sign/signWithWallet.js'
export {
  type ExplainSignatureParameters,
  explainSignature,
  type SignatureExplanation,
} from './verify/explainSignature.js'
export type {
  CeilingExpectation,
  PaymentExpectation,
  PaymentVerdict,
} from './verify/types.js'
export {
  type VerifyPaymentParameters,
  verifyPayment,
} from './verify/verifyPayment.js'
export {
  type ListedVerdict,
  type PaymentToVerify,
  type VerifyPaymentsParameters,
  verifyPayments,
} from './verify/verifyPayments.js'
