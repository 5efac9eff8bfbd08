import { readFileSync } from 'node:fs'
import { CommentTag, JSX, ReflectionKind } from 'typedoc'

const h = JSX.createElement

/** The methods of orders by task, each with the guide that explains it. */
export const tasks = {
  Sell: {
    draft: 'lifecycle',
    accept: 'lifecycle',
    capture: 'lifecycle',
    reauthorize: 'lifecycle',
  },
  'Give up': {
    void: 'lifecycle',
    cancellationToSign: 'lifecycle',
    acceptCancellation: 'lifecycle',
    approveCancellation: 'lifecycle',
  },
  Refund: {
    refund: 'refunds',
    getRefund: 'refunds',
    refundToSign: 'refunds',
    acceptRefund: 'refunds',
  },
  Read: {
    get: 'lifecycle',
    getForBuyer: 'http',
    list: 'http',
    events: 'events',
  },
  'Keep the books': {
    reconcile: 'backups',
    audit: 'backups',
    ledger: 'books',
    health: 'alerts',
  },
  Run: {
    run: 'settings',
    runDue: 'serverless',
    liveness: 'going-live',
    readiness: 'going-live',
    suspend: 'going-live',
    resume: 'going-live',
    archive: 'stores',
    reseal: 'settings',
    within: 'stores',
    changeRecipients: 'settings',
    close: 'settings',
  },
}

const guides = Object.assign({}, ...Object.values(tasks))

/** The interface whose methods have a page each. */
export const isOrders = (it) =>
  it?.name === 'Orders' && it.kindOf?.(ReflectionKind.Interface)
export const isMethod = (it) =>
  it.kindOf?.(ReflectionKind.Method) === true && isOrders(it.parent)

/** One list under one heading, where a comment has several of these tags. */
export function joinThrows(signature) {
  const tags = signature.comment?.getTags('@throws') ?? []
  if (tags.length < 2) return
  const bullet = { kind: 'text', text: '\n- ' }
  const content = tags.flatMap((tag) => [bullet, ...tag.content])
  signature.comment.removeTags('@throws')
  signature.comment.blockTags.push(new CommentTag('@throws', content))
}

/** What the page of a method or a function says, so that it needs no other. */
export function callBody(context, signature) {
  const { parent, parameters = [], type } = signature
  const fields = parameters.flatMap((it) => {
    // What comes before, such as a client, is one thing to pass.
    const inside = it === parameters.at(-1) ? fieldsOf(it.type) : []
    return inside.length ? inside : [it]
  })
  const result = type?.typeArguments?.[0] ?? type
  const target = result?.reflection
  const members = target ? target.children : fieldsOf(result)
  const reasons = reasonsOf(target?.type)
  // The second way to call a method repeats the headings of the first.
  const isFirst = parent.signatures[0] === signature
  const heading = (text) => {
    const id = context.slugger.slug(text)
    if (isFirst)
      context.page.pageHeadings.push({ link: `#${id}`, text, level: 2 })
    return h('h2', { id }, text)
  }
  return h(
    JSX.Fragment,
    null,
    context.commentSummary(signature),
    isMethod(parent) && guideLink(context, parent.name),
    tagsOf(context, signature, (tag) => tag === '@example'),
    fields.length > 0 && [heading('Fields'), fieldList(context, fields)],
    type && [
      heading('Result'),
      h('p', null, 'Returns ', h('code', null, context.type(type)), '.'),
      target?.type && context.memberDeclaration(target),
      members && fieldList(context, members),
    ],
    reasons.length > 0 && [heading('Reasons'), reasonTable(context, reasons)],
    tagsOf(context, signature, (tag) => tag !== '@example'),
  )
}

/** Some of a comment's tags, where all together would stand at its end. */
function tagsOf(context, signature, isWanted) {
  const tags = signature.comment?.blockTags ?? []
  for (const it of tags) it.skipRendering = !isWanted(it.tag)
  const shown = context.commentTags(signature)
  for (const it of tags) it.skipRendering = false
  return shown
}

function guideLink(context, name) {
  const guide = context.page.project
    .getReflectionsByKind(ReflectionKind.Document)
    .find(({ frontmatter }) => frontmatter.file === guides[name])
  if (!guide) throw new Error(`orders.${name} has no guide: see siteMethods.`)
  const link = h('a', { href: context.urlTo(guide) }, guide.name)
  return h('p', null, 'Guide: ', link)
}

/** The members of a parameter's type, also of those it is composed of. */
function fieldsOf(type) {
  if (type?.type === 'reflection') return type.declaration.getProperties() ?? []
  if (type?.type === 'intersection') return type.types.flatMap(fieldsOf)
  if (type?.type !== 'reference') return []
  const target = type.reflection
  if (target)
    return target.type ? fieldsOf(target.type) : (target.children ?? [])
  const [whole, names] = type.typeArguments ?? []
  const named = literalsOf(names)
  const all = whole ? fieldsOf(whole) : []
  if (type.name === 'Omit') return all.filter((it) => !named.includes(it.name))
  if (type.name === 'Pick') return all.filter((it) => named.includes(it.name))
  return []
}

/** Each field once, what a caller has to give first. */
function fieldList(context, fields) {
  const byName = new Map(
    fields.map(({ name }) => [name, fields.filter((it) => it.name === name)]),
  )
  const isOptional = (all) =>
    all.every(({ flags, defaultValue }) => flags.isOptional || defaultValue)
  return h(
    'dl',
    { class: 'fields' },
    [...byName.values()]
      .sort((a, b) => Number(isOptional(a)) - Number(isOptional(b)))
      .map((all) => {
        const described = all.find(({ comment }) => comment) ?? all[0]
        return field(context, described, isOptional(all))
      }),
  )
}

function field(context, it, isOptional) {
  const { content } = it.comment?.getTag('@default') ?? {}
  const [, code = it.defaultValue] =
    /^```\w*\n(.*)\n```$/s.exec(content?.[0]?.text ?? '') ?? []
  const fallback = code ? h('code', null, code) : context.displayParts(content)
  return [
    h(
      'dt',
      null,
      h('code', { class: 'name' }, it.name),
      ' ',
      h('code', null, context.type(it.type)),
      isOptional && h('span', null, ' optional'),
    ),
    h(
      'dd',
      null,
      context.commentSummary(it),
      fallback && h('div', { class: 'default' }, 'Default: ', fallback),
    ),
  ]
}

/** The literal texts of a union, through the names it is composed of. */
function literalsOf(type, seen = new Set()) {
  if (!type || seen.has(type)) return []
  seen.add(type)
  if (type.type === 'literal') return [type.value]
  if (type.type === 'union')
    return type.types.flatMap((it) => literalsOf(it, seen))
  return type.type === 'reference'
    ? literalsOf(type.reflection?.type, seen)
    : []
}

/** The texts that `reason` can be, in any variant of a result. */
function reasonsOf(type) {
  const variants = type?.type === 'union' ? type.types : [type]
  const named = variants
    .filter((it) => it?.type === 'reflection')
    .flatMap(({ declaration }) => declaration.children ?? [])
    .filter(({ name }) => name === 'reason')
  return [...new Set(named.flatMap((it) => literalsOf(it.type)))].filter(
    (it) => typeof it === 'string',
  )
}

/** The rows of the page of errors: what a reason means, and what to do. */
const rows = new Map(
  readFileSync('docs/errors.md', 'utf8')
    .split('\n')
    .map((line) => line.split('|').map((cell) => cell.trim()))
    .filter(([, name]) => /^`\w+`$/.test(name ?? ''))
    .reverse()
    .map(([, name, ...cells]) => [
      name.slice(1, -1),
      cells
        .filter(
          (cell) => cell && !/^(\d+|yes|no|all .*|(`\w+`,? ?)+)$/.test(cell),
        )
        .map((cell) => cell.replace(/\[([^\]]+)\]\([^)]+\)/g, '$1')),
    ]),
)

function reasonTable(context, reasons) {
  const markdown = (cell) =>
    cell && context.displayParts([{ kind: 'text', text: cell }])
  const line = (cells, kind = 'td') =>
    h(
      'tr',
      null,
      cells.map((it) => h(kind, null, it)),
    )
  const lines = reasons.map((reason) => {
    const [meaning, advice] = rows.get(reason) ?? []
    return line([h('code', null, reason), markdown(meaning), markdown(advice)])
  })
  return h(
    'div',
    { class: 'tsd-typography reasons' },
    h(
      'table',
      null,
      h('thead', null, line(['Reason', 'Meaning', 'What to do'], 'th')),
      h('tbody', null, lines),
    ),
  )
}
