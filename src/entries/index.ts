export { formatAmount, parseAmount } from '../base/amount.js'
export {
  CountersignError,
  type ErrorDetails,
} from '../base/CountersignError.js'
export {
  ClockSkewError,
  InvalidAmountError,
  InvalidFieldError,
} from '../base/errors.js'
export { hashPayment } from '../base/hashPayment.js'
export { type KnownToken, knownTokens } from '../base/knownTokens.js'
export type { CaptureProof } from '../base/receiptProof.js'
export type { RefusalReason } from '../base/revertReason.js'
export { eip3009Abi } from '../base/tokenAbi.js'
export type {
  CancelAuthorization,
  Cancellation,
  Finality,
  Payment,
  PaymentAuthorization,
  PrimaryType,
  SignedCancellation,
  SignedPayment,
  TokenDomain,
} from '../base/types.js'
export {
  type BuildCancellationParameters,
  buildCancellation,
} from '../build/buildCancellation.js'
export {
  type BuildPaymentParameters,
  buildPayment,
} from '../build/buildPayment.js'
export { type CancelCallParameters, cancelCall } from '../build/cancelCall.js'
export {
  type CaptureCallParameters,
  captureCall,
  type TokenCall,
} from '../build/captureCall.js'
export { decodePayment, encodePayment } from '../build/codec.js'
export { NoRandomnessError } from '../build/errors.js'
export {
  type PaymentTypedData,
  paymentTypedData,
} from '../build/paymentTypedData.js'
export {
  type PreparePaymentParameters,
  preparePayment,
} from '../build/preparePayment.js'
export {
  type CancelPaymentParameters,
  cancelPayment,
} from '../capture/cancelPayment.js'
export {
  type CapturePaymentParameters,
  capturePayment,
} from '../capture/capturePayment.js'
export {
  type CapturePaymentSyncParameters,
  capturePaymentSync,
} from '../capture/capturePaymentSync.js'
export {
  AccountError,
  CancelRejectedError,
  CaptureRejectedError,
  CaptureRevertedError,
  OutcomeTimeoutError,
  type RejectionReason,
  SendError,
} from '../capture/errors.js'
export type { CaptureOptions } from '../capture/planCapture.js'
export type { SendOptions } from '../capture/planTransaction.js'
export type { SignedTransaction } from '../capture/sendTransaction.js'
export {
  type SignCaptureParameters,
  signCapture,
} from '../capture/signCapture.js'
export {
  type WaitForOutcomeParameters,
  waitForOutcome,
} from '../capture/waitForOutcome.js'
export {
  type GetAuthorizationStateParameters,
  getAuthorizationState,
} from '../reads/getAuthorizationState.js'
export {
  type GetPaymentOutcomeParameters,
  getPaymentOutcome,
  type PaymentOutcome,
} from '../reads/getPaymentOutcome.js'
export {
  type GetTokenParameters,
  getToken,
  type Token,
} from '../reads/getToken.js'
export type { CallFees, TokenCapabilities } from '../reads/types.js'
export {
  DomainMismatchError,
  FinalityUnsupportedError,
  NodeAnswerError,
  NodeError,
  type NodeFailure,
  UnsupportedTokenError,
} from '../rpc/errors.js'
export type { BlockSelector } from '../rpc/requestNode.js'
export type { Wallet } from '../sign/askWallet.js'
export {
  SigningDeclinedError,
  UnexpectedPaymentError,
  WalletError,
  WrongWalletError,
} from '../sign/errors.js'
export {
  type SignCancellationExpectation,
  type SignCancellationParameters,
  signCancellation,
} from '../sign/signCancellation.js'
export {
  type SignPaymentExpectation,
  type SignPaymentParameters,
  signPayment,
} from '../sign/signPayment.js'
export {
  type ExplainSignatureParameters,
  explainSignature,
  type SignatureDifference,
  type SignatureExplanation,
} from '../verify/explainSignature.js'
export type {
  JudgedAt,
  PaymentExpectation,
  PaymentVerdict,
} from '../verify/types.js'
export {
  type VerifyPaymentParameters,
  verifyPayment,
} from '../verify/verifyPayment.js'
