import { X509Certificate } from 'node:crypto'
import { isIP } from 'node:net'
import { checkMembers } from '../../core/checkMembers.js'
import { loadPeer, notLoaded } from '../../core/peers.js'
import { WebhookPackageNotFoundError, WebhookTargetError } from './errors.js'
import { hostnameOf } from './findAddresses.js'
import { isPublicAddress } from './isPublicAddress.js'
import { parseTargetName } from './parseTargetName.js'
import type { CheckedTarget, WebhookTarget } from './types.js'

/** The part of the package `standardwebhooks` that this library uses. */
type Signer = { sign(id: string, at: Date, body: string): string }
type CreateSigner = (secret: string) => Signer

const secretForm =
  /^whsec_((?:[A-Za-z\d+/]{4})*(?:[A-Za-z\d+/]{2}==|[A-Za-z\d+/]{3}=)?)$/

const pemForm = /-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g

/**
 * Checks all targets, before anything is sent.
 *
 * @throws {@link WebhookTargetError} when a field of a target is invalid.
 * @throws {@link WebhookPackageNotFoundError} when `standardwebhooks` is not
 * installed.
 */
export async function parseTargets(
  targets: readonly WebhookTarget[],
): Promise<CheckedTarget[]> {
  if (!Array.isArray(targets) || targets.length === 0)
    throw new WebhookTargetError('targets', 'a list of at least one target')
  const createSigner = await loadSigner()
  const names = new Set<string>()
  return targets.map((target: WebhookTarget, index) => {
    const field = `targets[${index}]`
    checkMembers(
      target,
      ['name', 'url', 'secrets', 'from', 'types', 'privateHosts', 'ca'],
      field,
    )
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
      isPrivateAllowed: privateHosts.includes(hostnameOf(url)),
      sign: (id, at, body) =>
        signers.map((signer) => signer.sign(id, at, body)).join(' '),
    }
  })
}

async function loadSigner(): Promise<CreateSigner> {
  const { Webhook } = await loadPeer(
    { name: 'standardwebhooks', from: '1.0.0' },
    import('standardwebhooks').catch(notLoaded),
    (problem) => new WebhookPackageNotFoundError(problem),
  )
  return (secret) => new Webhook(secret)
}

function parseName(
  given: unknown,
  field: string,
  taken: ReadonlySet<string>,
): string {
  const name = parseTargetName(given, field)
  if (taken.has(name))
    throw new WebhookTargetError(field, 'unique among the targets', {
      value: name,
    })
  return name
}

/**
 * Checks a URL. Errors show only its protocol or host: path and query may be
 * secret.
 */
function checkUrl(
  given: unknown,
  field: string,
  privateHosts: readonly string[],
): URL {
  const url = parseUrl(given)
  if (!url) throw new WebhookTargetError(field, 'a URL')
  if (url.protocol !== 'https:')
    throw new WebhookTargetError(field, 'an https URL', { value: url.protocol })
  if (url.username || url.password)
    throw new WebhookTargetError(field, 'a URL without credentials')
  const host = hostnameOf(url)
  const isRefused = isIP(host) !== 0 && !isPublicAddress(host)
  if (isRefused && !privateHosts.includes(host))
    throw new WebhookTargetError(field, 'a URL with a public address', {
      value: host,
    })
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

/**
 * Parses host names. Returns them in the spelling of a parsed URL, so that they
 * can be compared with the host of a target.
 */
function parseHosts(given: unknown, field: string): string[] {
  if (given === undefined) return []
  if (!Array.isArray(given))
    throw new WebhookTargetError(field, 'a list of host names')
  return given.map((name: unknown, index) => {
    const text = String(name)
    const url = parseUrl(`https://${isIP(text) === 6 ? `[${text}]` : text}`)
    if (typeof name !== 'string' || !url || /[/?#@\\]|:\d+$/.test(plain(text)))
      throw new WebhookTargetError(
        `${field}[${index}]`,
        'the name of a host without protocol, port or path',
        {
          value: text,
        },
      )
    return hostnameOf(url)
  })
}

/**
 * Returns an empty text for an IPv6 address, so that its colons are not taken
 * for the start of a port.
 */
function plain(host: string): string {
  return isIP(host.replace(/^\[|\]$/g, '')) === 6 ? '' : host
}

function parseSecrets(given: unknown, field: string): string[] {
  if (!Array.isArray(given) || given.length === 0)
    throw new WebhookTargetError(field, 'a list of at least one secret')
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
  throw new WebhookTargetError(field, 'one or more PEM certificates')
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

/** All types of events. A unit test checks that none of the type is missing. */
const known =
  'drafted accepted captureRequested capturing preconfirmed captureRejected ' +
  'reopened permissionApproved captured voided cancellationAccepted canceling cancelRejected canceled ' +
  'expired consumed reauthorized finalityRaised fulfil reorged deadlineNear refundDue ' +
  'overpaid refundRequested refunded refundFailed servedUnpaid lossAfterFulfilment needsReview subscriptionPastDue subscriptionUnpaid channelMoved submitterShared unmatched storeReplaced'

/**
 * Parses the types of events that a target takes.
 *
 * @throws {@link WebhookTargetError} when a name is not a type of event.
 */
function parseTypes(given: unknown, field: string): CheckedTarget['types'] {
  // `undefined` means all types, also those that a newer version of this
  // library writes.
  if (given === undefined) return undefined
  if (!Array.isArray(given) || given.length === 0)
    throw new WebhookTargetError(field, 'a list of at least one event type')
  const names: unknown[] = known.split(' ')
  return given.map((type: unknown, index) => {
    if (names.includes(type)) return type
    throw new WebhookTargetError(`${field}[${index}]`, 'a type of event', {
      value: type,
    })
  })
}
