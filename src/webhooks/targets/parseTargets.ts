import { X509Certificate } from 'node:crypto'
import { isIP } from 'node:net'
import { checkMembers } from '../../core/checkMembers.js'
import { WebhookPackageNotFoundError, WebhookTargetError } from './errors.js'
import { hostOf } from './findAddresses.js'
import { isPublicAddress } from './isPublicAddress.js'
import { parseTargetName } from './parseTargetName.js'
import {
  type CheckedTarget,
  targetMembers,
  type WebhookTarget,
} from './types.js'

/** As much of the package `standardwebhooks` as is used here. */
type Signer = { sign(id: string, at: Date, body: string): string }
type CreateSigner = (secret: string) => Signer

const secretForm =
  /^whsec_((?:[A-Za-z\d+/]{4})*(?:[A-Za-z\d+/]{2}==|[A-Za-z\d+/]{3}=)?)$/

const pemForm = /-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g

/**
 * Checks all targets, before anything is sent.
 *
 * @throws {@link WebhookTargetError} when a field is not as it has to be.
 * @throws {@link WebhookPackageNotFoundError}
 */
export async function parseTargets(
  targets: readonly WebhookTarget[],
): Promise<CheckedTarget[]> {
  if (!Array.isArray(targets) || targets.length === 0)
    throw new WebhookTargetError('targets', 'at least one target')
  const createSigner = await loadSigner()
  const names = new Set<string>()
  return targets.map((target: WebhookTarget, index) => {
    const field = `targets[${index}]`
    checkMembers(target, targetMembers, field)
    const name = parseName(target?.name, `${field}.name`, names)
    names.add(name)
    const privateHosts = parseHosts(
      target.privateHosts,
      `${field}.privateHosts`,
    )
    const url = checkUrl(target.url, `${field}.url`, privateHosts)
    const signers = parseSecrets(target.secrets, `${field}.secrets`).map(
      createSigner,
    )
    return {
      name,
      url,
      from: parseFrom(target.from, `${field}.from`),
      ca: parseCa(target.ca, `${field}.ca`),
      types: parseTypes(target.types, `${field}.types`),
      isPrivateAllowed: privateHosts.includes(hostOf(url)),
      sign: (id, at, body) =>
        signers.map((signer) => signer.sign(id, at, body)).join(' '),
    }
  })
}

async function loadSigner(): Promise<CreateSigner> {
  const { Webhook } = await import('standardwebhooks').catch(() => {
    throw new WebhookPackageNotFoundError()
  })
  return (secret) => new Webhook(secret)
}

function parseName(
  given: unknown,
  field: string,
  taken: ReadonlySet<string>,
): string {
  const name = parseTargetName(given, field)
  if (taken.has(name))
    throw new WebhookTargetError(field, 'given once', { value: name })
  return name
}

/** Shows no more of a URL than its protocol or host: the rest may be secret. */
function checkUrl(
  given: unknown,
  field: string,
  privateHosts: readonly string[],
): URL {
  const url = parseUrl(given)
  if (!url) throw new WebhookTargetError(field, 'a URL')
  if (url.protocol !== 'https:')
    throw new WebhookTargetError(field, 'of https', { value: url.protocol })
  if (url.username || url.password)
    throw new WebhookTargetError(field, 'without credentials')
  const host = hostOf(url)
  const isRefused = isIP(host) !== 0 && !isPublicAddress(host)
  if (isRefused && !privateHosts.includes(host))
    throw new WebhookTargetError(field, 'at a public address', { value: host })
  return url
}

function parseUrl(given: unknown): URL | undefined {
  if (typeof given !== 'string') return undefined
  try {
    return new URL(given)
  } catch {
    return undefined
  }
}

/** Spelled the way the host of a parsed URL is. */
function parseHosts(given: unknown, field: string): string[] {
  if (given === undefined) return []
  if (!Array.isArray(given))
    throw new WebhookTargetError(field, 'a list of host names')
  return given.map((name: unknown, index) => {
    const text = String(name)
    const url = parseUrl(`https://${isIP(text) === 6 ? `[${text}]` : text}`)
    if (typeof name !== 'string' || !url || /[/?#@\\]|:\d+$/.test(plain(text)))
      throw new WebhookTargetError(`${field}[${index}]`, 'the name of a host', {
        value: text,
      })
    return hostOf(url)
  })
}

/** Without an IPv6 address, whose colons are no port. */
function plain(host: string): string {
  return isIP(host.replace(/^\[|\]$/g, '')) === 6 ? '' : host
}

function parseSecrets(given: unknown, field: string): string[] {
  if (!Array.isArray(given) || given.length === 0)
    throw new WebhookTargetError(field, 'at least one secret')
  return given.map((secret: unknown, index) => {
    const [, base64 = ''] = secretForm.exec(String(secret)) ?? []
    const { length } = Buffer.from(base64, 'base64')
    if (length < 24 || length > 64)
      throw new WebhookTargetError(
        `${field}[${index}]`,
        'whsec_ and 24 to 64 bytes in base64',
      )
    return `whsec_${base64}`
  })
}

function parseFrom(given: unknown, field: string): CheckedTarget['from'] {
  if (given === undefined || given === 'beginning') return 'beginning'
  if (given === 'now') return given
  throw new WebhookTargetError(field, "'beginning' or 'now'", { value: given })
}

function parseCa(given: unknown, field: string): string | undefined {
  if (given === undefined) return undefined
  if (typeof given === 'string' && isPem(given)) return given
  throw new WebhookTargetError(field, 'certificates in PEM')
}

function isPem(text: string): boolean {
  const certificates = text.match(pemForm) ?? []
  try {
    for (const certificate of certificates) new X509Certificate(certificate)
    return certificates.length > 0
  } catch {
    return false
  }
}

/** What there is to be told of; a test holds it against the type. */
const known =
  'drafted accepted captureRequested capturing preconfirmed captureRejected ' +
  'reopened captured voided cancelRequested canceling cancelRejected canceled ' +
  'expired consumed reauthorized finalityRaised fulfil reorged deadlineNear refundDue ' +
  'overpaid lossAfterFulfilment needsReview submitterShared unmatched storeReplaced'

/**
 * Which events a target takes: a name that is misspelt would never come.
 *
 * @throws {@link WebhookTargetError}
 */
export function parseTypes(
  given: unknown,
  field: string,
): CheckedTarget['types'] {
  // A type that a newer version writes must not be left out by an older one.
  if (given === undefined) return undefined
  if (!Array.isArray(given) || given.length === 0)
    throw new WebhookTargetError(field, 'at least one event')
  const names: unknown[] = known.split(' ')
  return given.map((type: unknown, index) => {
    if (names.includes(type)) return type
    throw new WebhookTargetError(`${field}[${index}]`, 'the name of an event', {
      value: type,
    })
  })
}
