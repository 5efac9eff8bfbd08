import { isUnchanged, text } from './answers.js'
import type { Asset } from './assets.js'

/** Names contain a hash of the content, so no copy ever gets old. */
const forever = 'public, max-age=31536000, immutable'

/** A file that is made for one shop. It is sent uncompressed. */
export type TextAsset = Pick<Asset, 'name' | 'type'> & { text: string }

/** Answers with a file of the pages, in the form that the browser prefers. */
export function serveAsset(
  request: Request,
  asset: Asset | TextAsset,
): Response {
  const { name, type } = asset
  const forms =
    'text' in asset ? { identity: () => asset.text } : formsOf(asset)
  const encoding = chooseEncoding(
    request.headers.get('accept-encoding'),
    Object.keys(forms),
  )
  const form = encoding && forms[encoding]
  if (!form)
    return text(406, 'This file is sent to browsers that accept brotli.')
  const isPlain = encoding === 'identity'
  const etag = `"${name}${isPlain ? '' : `-${encoding}`}"`
  const headers = new Headers({
    'cache-control': forever,
    vary: 'accept-encoding',
    etag,
  })
  if (isUnchanged(request, etag))
    return new Response(null, { status: 304, headers })
  headers.set('content-type', type)
  if (!isPlain) headers.set('content-encoding', encoding)
  return new Response(request.method === 'HEAD' ? null : form(), { headers })
}

type Forms = Readonly<Record<string, () => BodyInit>>

const formsMade = new WeakMap<Asset, Forms>()

/**
 * The forms of a file, the shortest first. Only runtimes with `node:zlib` have
 * more than one: Node, Deno, Bun, and workers with `nodejs_compat`.
 */
function formsOf(asset: Asset): Forms {
  const made = formsMade.get(asset)
  if (made) return made
  const zlib = globalThis.process?.getBuiltinModule?.('node:zlib')
  const br = once(() => decodeBase64(asset.brotli))
  const identity =
    zlib && once(() => new Uint8Array(zlib.brotliDecompressSync(br())))
  const forms: Forms = {
    br,
    ...(identity && {
      gzip: once(() => new Uint8Array(zlib.gzipSync(identity()))),
      identity,
    }),
  }
  formsMade.set(asset, forms)
  return forms
}

function once<value>(make: () => value): () => value {
  let made: value | undefined
  return () => {
    made ??= make()
    return made
  }
}

/** Chooses the first form that a browser accepts. */
function chooseEncoding(
  header: string | null,
  forms: readonly string[],
): string | undefined {
  const accepted = (header ?? '').toLowerCase().split(',').map(parseCoding)
  const takes = (coding: string): boolean => {
    const named = accepted.find(({ name }) => name === coding)
    const any = accepted.find(({ name }) => name === '*')
    return (named ?? any)?.isWanted ?? coding === 'identity'
  }
  return forms.find(takes)
}

function parseCoding(part: string): { name: string; isWanted: boolean } {
  const [name = '', ...parameters] = part.trim().split(/\s*;\s*/)
  return { name, isWanted: !parameters.some((one) => /^q=0(\.0*)?$/.test(one)) }
}

function decodeBase64(text: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(atob(text), (character) => character.charCodeAt(0))
}
