import { X509Certificate } from 'node:crypto'
import { isIP } from 'node:net'
import { checkMembers } from '../../core/checkMembers.js'
import { WebhookPackageNotFoundError, WebhookTargetError } from './errors.js'
import { hostOf } from './findAddresses.js'
import { isPublicAddress } from './isPublicAddress.js'
import { readTargetName } from './readTargetName.js'
import { readTypes } from './readTypes.js'
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
export async function readTargets(
  targets: readonly WebhookTarget[],
): Promise<CheckedTarget[]> {
  if (!Array.isArray(targets) || targets.length === 0)
    throw new WebhookTargetError('targets', 'at least one target')
  const createSigner = await loadSigner()
  const names = new Set<string>()
  return targets.map((target: WebhookTarget, index) => {
    const field = `targets[${index}]`
    checkMembers(target, targetMembers, field)
    const name = readName(target?.name, `${field}.name`, names)
    names.add(name)
    const privateHosts = readHosts(target.privateHosts, `${field}.privateHosts`)
    const url = readUrl(target.url, `${field}.url`, privateHosts)
    const signers = readSecrets(target.secrets, `${field}.secrets`).map(
      createSigner,
    )
    return {
      name,
      url,
      from: readFrom(target.from, `${field}.from`),
      ca: readCa(target.ca, `${field}.ca`),
      types: readTypes(target.types, `${field}.types`),
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

function readName(
  given: unknown,
  field: string,
  taken: ReadonlySet<string>,
): string {
  const name = readTargetName(given, field)
  if (taken.has(name))
    throw new WebhookTargetError(field, 'given once', { value: name })
  return name
}

/** Shows no more of a URL than its protocol or host: the rest may be secret. */
function readUrl(
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
function readHosts(given: unknown, field: string): string[] {
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

function readSecrets(given: unknown, field: string): string[] {
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

function readFrom(given: unknown, field: string): CheckedTarget['from'] {
  if (given === undefined || given === 'beginning') return 'beginning'
  if (given === 'now') return given
  throw new WebhookTargetError(field, "'beginning' or 'now'", { value: given })
}

function readCa(given: unknown, field: string): string | undefined {
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
