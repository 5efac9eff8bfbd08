import type { Asset } from './assets.js'

/** Names contain a hash of the content, so no copy ever gets old. */
const forever = 'public, max-age=31536000, immutable'

/** A file that is made for one shop, and sent as it is. */
export type TextAsset = Pick<Asset, 'name' | 'type'> & { text: string }

/** Answers with a file of the pages, in the form that the browser prefers. */
export function serveAsset(
  request: Request,
  asset: Asset | TextAsset,
): Response {
  const encoding =
    'text' in asset
      ? undefined
      : chooseEncoding(request.headers.get('accept-encoding'))
  const etag = `"${asset.name}${encoding ? `-${encoding}` : ''}"`
  const headers = new Headers({
    'cache-control': forever,
    vary: 'accept-encoding',
    etag,
  })
  if (isUnchanged(request, etag))
    return new Response(null, { status: 304, headers })
  headers.set('content-type', asset.type)
  if (encoding) headers.set('content-encoding', encoding)
  const isHead = request.method === 'HEAD'
  return new Response(isHead ? null : bodyOf(asset, encoding), { headers })
}

/** True if the browser has this version already. */
export function isUnchanged({ headers }: Request, etag: string): boolean {
  const known = headers.get('if-none-match') ?? ''
  return known
    .split(',')
    .some(
      (one) => one.trim().replace(/^W\//, '') === etag || one.trim() === '*',
    )
}

type Encoding = 'br' | 'gzip'

function chooseEncoding(header: string | null): Encoding | undefined {
  const accepted = (header ?? '').toLowerCase().split(',').map(parseCoding)
  const takes = (coding: string): boolean =>
    (
      accepted.find(({ name }) => name === coding) ??
      accepted.find(({ name }) => name === '*')
    )?.isWanted ?? false
  if (takes('br')) return 'br'
  return takes('gzip') ? 'gzip' : undefined
}

function parseCoding(part: string): { name: string; isWanted: boolean } {
  const [name = '', ...parameters] = part.trim().split(/\s*;\s*/)
  return { name, isWanted: !parameters.some((one) => /^q=0(\.0*)?$/.test(one)) }
}

function bodyOf(
  asset: Asset | TextAsset,
  encoding: Encoding | undefined,
): BodyInit {
  if ('text' in asset) return asset.text
  if (encoding === 'br') return decodeBase64(asset.brotli)
  const zipped = decodeBase64(asset.gzip)
  return encoding === 'gzip'
    ? zipped
    : new Blob([zipped]).stream().pipeThrough(new DecompressionStream('gzip'))
}

function decodeBase64(text: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(atob(text), (character) => character.charCodeAt(0))
}
