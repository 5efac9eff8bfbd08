import {
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  randomBytes,
  sign,
} from 'node:crypto'
import { isIP } from 'node:net'

/** A key and its certificate, in PEM, as a server takes them. */
export type Certificate = { key: string; cert: string }

type Wanted = {
  /** Host names and addresses it is for. @default localhost */
  hosts?: readonly string[] | undefined
  /** @default from yesterday until tomorrow */
  until?: Date | undefined
}

/** Makes a certificate that signs itself, so it is its own authority. */
export function createCertificate(wanted: Wanted = {}): Certificate {
  const { hosts = ['localhost'], until = inDays(1) } = wanted
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const toSign = certificateBody(privateKey, hosts, until)
  const signature = sign('sha256', toSign, privateKey)
  const der = sequence(
    toSign,
    sequence(ecdsaWithSha256),
    tagged(0x03, Buffer.from([0]), signature),
  )
  const base64 = der.toString('base64').replace(/.{64}/g, '$&\n')
  const cert = `-----BEGIN CERTIFICATE-----\n${base64}\n-----END CERTIFICATE-----\n`
  const key = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
  return { key, cert }
}

function certificateBody(
  privateKey: KeyObject,
  hosts: readonly string[],
  until: Date,
): Buffer {
  const spki = createPublicKey(privateKey).export({
    type: 'spki',
    format: 'der',
  })
  const name = sequence(
    tagged(0x31, sequence(commonName, tagged(0x0c, Buffer.from('a test')))),
  )
  const names = sequence(...hosts.map(alternativeName))
  return sequence(
    tagged(0xa0, tagged(0x02, Buffer.from([2]))),
    // A leading 1 keeps the number positive.
    tagged(0x02, Buffer.from([1]), randomBytes(8)),
    sequence(ecdsaWithSha256),
    name,
    sequence(time(inDays(-2)), time(until)),
    name,
    spki,
    tagged(0xa3, sequence(sequence(subjectAltName, tagged(0x04, names)))),
  )
}

function alternativeName(host: string): Buffer {
  if (isIP(host) === 4)
    return tagged(0x87, Buffer.from(host.split('.').map(Number)))
  return tagged(0x82, Buffer.from(host))
}

function tagged(tag: number, ...contents: readonly Uint8Array[]): Buffer {
  const content = Buffer.concat(contents)
  const { length } = content
  const size =
    length < 128 ? [length] : [0x82, Math.floor(length / 256), length % 256]
  return Buffer.concat([Buffer.from([tag, ...size]), content])
}

function sequence(...contents: readonly Uint8Array[]): Buffer {
  return tagged(0x30, ...contents)
}

function time(date: Date): Buffer {
  const digits = date.toISOString().replace(/\.\d+Z|\D/g, '')
  return tagged(0x18, Buffer.from(`${digits}Z`))
}

function inDays(days: number): Date {
  return new Date(Date.now() + days * 86_400_000)
}

const objectId = (hex: string): Buffer => tagged(0x06, Buffer.from(hex, 'hex'))

const ecdsaWithSha256 = objectId('2a8648ce3d040302')
const commonName = objectId('550403')
const subjectAltName = objectId('551d11')
