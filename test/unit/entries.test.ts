import { readdirSync, readFileSync } from 'node:fs'
import * as main from 'countersign'
import * as accelerate from 'countersign/accelerate'
import * as batches from 'countersign/batches'
import * as channels from 'countersign/channels'
import * as checkout from 'countersign/checkout'
import * as client from 'countersign/client'
import * as devchain from 'countersign/devchain'
import * as durable from 'countersign/durable'
import * as element from 'countersign/element'
import * as http from 'countersign/http'
import * as orders from 'countersign/orders'
import * as otel from 'countersign/otel'
import * as pages from 'countersign/pages'
import * as reads from 'countersign/reads'
import * as sql from 'countersign/sql'
import * as store from 'countersign/store'
import * as subscriptions from 'countersign/subscriptions'
import * as testing from 'countersign/testing'
import * as wagmi from 'countersign/wagmi'
import * as webhooks from 'countersign/webhooks'
import * as x402 from 'countersign/x402'
import { expect, test } from 'vitest'
import { entryFiles } from '../../scripts/entryFiles.js'

const entries: Record<string, Record<string, unknown>> = {
  accelerate,
  batches,
  channels,
  checkout,
  client,
  devchain,
  durable,
  element,
  http,
  index: main,
  orders,
  otel,
  pages,
  reads,
  sql,
  store,
  subscriptions,
  testing,
  wagmi,
  webhooks,
  x402,
}
const sources = Object.entries(entryFiles).map(([entry, file]) => ({
  entry,
  text: readFileSync(file, 'utf8'),
}))

/** Every exported name, types included. */
const namesOf = (text: string): string[] =>
  [...text.matchAll(/\{([^}]*)\}/g)].flatMap(([, list = '']) =>
    list
      .split(',')
      .map((name) => name.replace(/^\s*type\s+|\w+ as /, '').trim())
      .filter(Boolean),
  )

test('these tests know every entry', () => {
  expect(sources.map(({ entry }) => entry).sort()).toEqual(Object.keys(entries))
})

test('an entry holds re-exports by name and nothing else', () => {
  for (const { text } of sources)
    expect(text.replace(/^export (type )?\{[^}]*\} from '[^']+'\n/gm, '')).toBe(
      '',
    )
})

test('countersign exports these names', () => {
  expect(Object.keys(main).sort()).toMatchInlineSnapshot(`
    [
      "AccountError",
      "CancelRejectedError",
      "CaptureRejectedError",
      "CaptureRevertedError",
      "ClockSkewError",
      "CountersignError",
      "DomainMismatchError",
      "FinalityUnsupportedError",
      "InvalidAmountError",
      "InvalidFieldError",
      "NoRandomnessError",
      "NodeAnswerError",
      "NodeError",
      "OutcomeTimeoutError",
      "SendError",
      "SigningDeclinedError",
      "UnexpectedPaymentError",
      "UnsupportedTokenError",
      "WalletError",
      "WrongWalletError",
      "buildCancellation",
      "buildPayment",
      "cancelCall",
      "cancelPayment",
      "captureCall",
      "capturePayment",
      "capturePaymentSync",
      "decodePayment",
      "eip3009",
      "eip3009Abi",
      "encodePayment",
      "explainSignature",
      "formatAmount",
      "getAuthorizationState",
      "getPaymentOutcome",
      "getToken",
      "hashPayment",
      "knownTokens",
      "parseAmount",
      "paymentTypedData",
      "preparePayment",
      "signCancellation",
      "signCapture",
      "signPayment",
      "verifyPayment",
      "verifyPayments",
      "waitForOutcome",
    ]
  `)
})

test('countersign/accelerate exports these names', () => {
  expect(Object.keys(accelerate).sort()).toMatchInlineSnapshot(`
    [
      "AcceleratorError",
      "loadAccelerator",
    ]
  `)
})

test('countersign/batches exports these names', () => {
  expect(Object.keys(batches).sort()).toMatchInlineSnapshot(`
    [
      "CaptureKeyError",
      "DelegationError",
      "batchCall",
      "captureKeyCall",
      "createCaptureKey",
      "delegateSubmitter",
      "getCaptureKey",
      "getDelegation",
      "multicallCall",
      "proveBatch",
      "revokeCaptureKey",
      "undelegateSubmitter",
    ]
  `)
})

test('countersign/checkout exports these names', () => {
  expect(Object.keys(checkout).sort()).toMatchInlineSnapshot(`
    [
      "buildCheckoutPayment",
      "buildPermitPayment",
      "checkout",
      "checkoutAbi",
      "checkoutAddress",
      "checkoutCall",
      "checkoutDeployment",
      "decodeCheckoutPayment",
      "decodePermitPayment",
      "encodeCheckoutPayment",
      "encodePermitPayment",
      "getPermitState",
      "permitCheckout",
      "permitCheckoutAddress",
      "permitCheckoutDeployment",
      "prepareCheckoutPayment",
      "preparePermitPayment",
      "signPermitCancellation",
    ]
  `)
})

test('countersign/client exports these names', () => {
  expect(Object.keys(client).sort()).toMatchInlineSnapshot(`
    [
      "ProblemError",
      "ServerError",
      "createBuyerClient",
      "createMerchantClient",
      "createSubscriberClient",
      "createSubscriptionsClient",
      "describeOrder",
    ]
  `)
})

test('countersign/devchain exports these names', () => {
  expect(Object.keys(devchain).sort()).toMatchInlineSnapshot(`
    [
      "AnvilNotFoundError",
      "AnvilPackageNotFoundError",
      "AnvilStartError",
      "DelegationPackageNotFoundError",
      "DevCallRevertedError",
      "DevChainModeError",
      "DevTokenNotFoundError",
      "UsdcPackageNotFoundError",
      "WebSocketPackageNotFoundError",
      "deployDevContract",
      "deployDevToken",
      "devContracts",
      "providerWordings",
      "startDevChain",
    ]
  `)
})

test('countersign/testing exports these names', () => {
  expect(Object.keys(testing).sort()).toMatchInlineSnapshot(`
    [
      "faultTransport",
      "samplePayment",
      "storeCases",
    ]
  `)
})

test('countersign/orders exports these names', () => {
  expect(Object.keys(orders).sort()).toMatchInlineSnapshot(`
    [
      "CursorAheadError",
      "OrderNotFoundError",
      "OrdersSetupError",
      "ProofConflictError",
      "RefundNotFoundError",
      "createOrders",
      "refundNonce",
      "toCsv",
      "toHledger",
      "toJsonLines",
    ]
  `)
})

test('countersign/store exports these names', () => {
  expect(Object.keys(store).sort()).toMatchInlineSnapshot(`
    [
      "DuplicateRecordError",
      "LeaseLostError",
      "SealError",
      "SealerUnavailableError",
      "StaleRecordError",
      "StoreError",
      "memoryStore",
      "sealer",
    ]
  `)
})

test('countersign/reads exports these names', () => {
  expect(Object.keys(reads).sort()).toMatchInlineSnapshot(`
    [
      "BlockReceiptsForbiddenError",
      "LogRangeError",
      "createReadClient",
      "decodeTokenLog",
      "detectPreconfirmations",
      "getBalance",
      "getBlockReceipts",
      "getLogs",
      "getTransactionCount",
      "streamLogs",
      "watchLogs",
    ]
  `)
})

test('countersign/sql exports these names', () => {
  expect(Object.keys(sql).sort()).toMatchInlineSnapshot(`
    [
      "postgresStore",
      "sqliteStore",
    ]
  `)
})

test('countersign/durable exports these names', () => {
  expect(Object.keys(durable).sort()).toMatchInlineSnapshot(`
    [
      "durableObjectStore",
    ]
  `)
})

test('countersign/http exports these names', () => {
  expect(Object.keys(http).sort()).toMatchInlineSnapshot(`
    [
      "ZodVersionError",
      "createPaymentHandler",
    ]
  `)
})

test('countersign/element exports these names', () => {
  expect(Object.keys(element).sort()).toMatchInlineSnapshot(`
    [
      "payElementName",
    ]
  `)
})

test('countersign/wagmi exports these names', () => {
  expect(Object.keys(wagmi).sort()).toMatchInlineSnapshot(`
    [
      "cancelPayment",
      "cancelPaymentMutationOptions",
      "getOrder",
      "getOrderQueryKey",
      "getOrderQueryOptions",
      "signPayment",
      "signPaymentMutationOptions",
      "useCancelPayment",
      "useOrder",
      "useSignPayment",
    ]
  `)
})

test('countersign/otel exports these names', () => {
  expect(Object.keys(otel).sort()).toMatchInlineSnapshot(`
    [
      "openTelemetry",
    ]
  `)
})

test('countersign/webhooks exports these names', () => {
  expect(Object.keys(webhooks).sort()).toMatchInlineSnapshot(`
    [
      "WebhookPackageNotFoundError",
      "WebhookTargetError",
      "getWebhookLag",
      "replayWebhooks",
      "runWebhooks",
    ]
  `)
})

test('countersign/x402 exports these names', () => {
  expect(Object.keys(x402).sort()).toMatchInlineSnapshot(`
    [
      "ChargeRejectedError",
      "X402SetupError",
      "channelStorage",
      "createFacilitator",
      "createX402Gate",
      "expressPayment",
      "honoPayment",
      "nextPayment",
      "pendingSettlementStore",
      "redactHeaders",
    ]
  `)
})

test('countersign/subscriptions exports these names', () => {
  expect(Object.keys(subscriptions).sort()).toMatchInlineSnapshot(`
    [
      "SubscriptionNotFoundError",
      "UnexpectedSpendPermissionError",
      "buildSpendPermission",
      "createSubscriptions",
      "findCharges",
      "getSpendPermission",
      "hashSpendPermission",
      "markOf",
      "periodAt",
      "signSpendPermission",
      "spendPermissionManager",
      "spendPermissionTypedData",
      "spendPermissionTypes",
      "spendPermissions",
      "verifySpendPermission",
    ]
  `)
})

test('countersign/channels exports these names', () => {
  expect(Object.keys(channels).sort()).toMatchInlineSnapshot(`
    [
      "AuthorizerKeyError",
      "ChannelNotFoundError",
      "NoSubmitterError",
      "buildDeposit",
      "channelContract",
      "channelDomain",
      "channelMulticall",
      "channelTopics",
      "channels",
      "checkVoucher",
      "claimCall",
      "claimTypedData",
      "claimTypes",
      "claimWithSignatureCall",
      "createChannels",
      "decodeChannelLog",
      "depositCall",
      "depositCollector",
      "finalizeWithdrawCall",
      "getChannel",
      "getChannels",
      "getSettled",
      "hashChannelConfig",
      "hashClaim",
      "hashVoucher",
      "initiateWithdrawCall",
      "normalizeVoucherSignature",
      "parseChannelConfig",
      "refundCall",
      "refundTypedData",
      "refundTypes",
      "refundWithSignatureCall",
      "settleCall",
      "signVoucher",
      "voucherTypedData",
      "voucherTypes",
    ]
  `)
})

test('every name, of a type too, has one path', () => {
  const names = sources.flatMap(({ text }) => namesOf(text))
  const twice = names.filter((name, index) => names.indexOf(name) !== index)
  expect(names).toContain('SignedPayment')
  // As wagmi's own actions, these have the names of viem's and take a config.
  expect(twice).toEqual(['cancelPayment', 'signPayment'])
})

test('what the sources export is what the modules hold', () => {
  for (const { entry, text } of sources) {
    const names = namesOf(text)
    for (const name of Object.keys(entries[entry] ?? {}))
      expect(names).toContain(name)
  }
})

const errors = Object.values(entries)
  .flatMap((entry) => Object.entries(entry))
  .filter(([name]) => name.endsWith('Error') && name !== 'CountersignError')

const facts = { failure: {}, tried: [], reason: 'x' }

test.each(errors)(
  '%s is a CountersignError with a name of its own',
  (name, given) => {
    const Class = given as new (...facts: unknown[]) => main.CountersignError
    const error = new Class({ ...facts, retryable: false }, '', '')
    expect(error).toBeInstanceOf(main.CountersignError)
    expect(error).toBeInstanceOf(Error)
    expect(Object.getOwnPropertyDescriptor(error, 'name')?.value).toBe(name)
    expect(typeof error.retryable).toBe('boolean')
    expect(typeof error.details).toBe('object')
    expect(error.message).toMatch(/^[^\n]+\.$/)
    expect(error.cause).toBeUndefined()
  },
)

test('there are errors to test, and no other class is exported', () => {
  const classes = Object.values(entries)
    .flatMap((entry) => Object.entries(entry))
    .filter(([, given]) => /^class\b/.test(String(given)))
    .map(([name]) => name)
  expect(errors.length).toBeGreaterThan(15)
  expect(classes.sort()).toEqual(
    [...errors.map(([name]) => name), 'CountersignError'].sort(),
  )
})

test('each error is named in its class body, so minifiers leave it', () => {
  const files = readdirSync('src', { recursive: true, encoding: 'utf8' })
  const bodies = files
    .filter((file) => /\berrors\.ts$/.test(file))
    .flatMap((file) =>
      readFileSync(`src/${file}`, 'utf8').split('export class '),
    )
    .filter((body) => /^\w+ extends CountersignError/.test(body))
  expect(bodies.length).toBeGreaterThanOrEqual(errors.length)
  for (const body of bodies)
    expect(body).toContain(`override readonly name = '${body.split(' ')[0]}'`)
})
