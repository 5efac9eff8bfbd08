import type { Asset } from './assets.js'

/** Names contain a hash of the content, so no copy ever gets old. */
const forever = 'public, max-age=31536000, immutable'

/** Answers with a file of the page, in the form that the browser prefers. */
export function serveAsset(request: Request, asset: Asset): Response {
  const encoding = chooseEncoding(request.headers.get('accept-encoding'), asset)
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
  const body = encoding
    ? decodeBase64(encoding === 'br' ? asset.brotli : asset.gzip)
    : asset.text
  return new Response(request.method === 'HEAD' ? null : body, { headers })
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

function chooseEncoding(
  header: string | null,
  { brotli, gzip }: Asset,
): 'br' | 'gzip' | undefined {
  const accepted = (header ?? '').toLowerCase().split(',').map(parseCoding)
  const takes = (coding: string): boolean =>
    (
      accepted.find(({ name }) => name === coding) ??
      accepted.find(({ name }) => name === '*')
    )?.isWanted ?? false
  if (brotli && takes('br')) return 'br'
  return gzip && takes('gzip') ? 'gzip' : undefined
}

function parseCoding(part: string): { name: string; isWanted: boolean } {
  const [name = '', ...parameters] = part.trim().split(/\s*;\s*/)
  return { name, isWanted: !parameters.some((one) => /^q=0(\.0*)?$/.test(one)) }
}

function decodeBase64(text: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(atob(text), (character) => character.charCodeAt(0))
}
