import { ReflectionKind } from 'typedoc'

/** Under which heading of the sidebar a page stands; the others are guides. */
const groups = {
  'Start here': ['quickstart-dapp', 'quickstart-backend'],
  'Look things up': [
    'errors',
    'glossary',
    'requests',
    'reads',
    'tokens',
    'devchain',
    'runtimes',
    'spec',
    'CONTRIBUTING',
    'CHANGELOG',
  ],
}

/** Parts whose import path is not named like their folder. */
const importPaths = { payments: 'countersign', chain: 'countersign/reads' }

/**
 * A plugin of typedoc's: names pages by their first heading and entries by
 * their import path, sorts pages into the sidebar, and lets a link in the
 * comments of one entry find a name that another entry exports.
 *
 * @param {import('typedoc').Application} app
 */
export function load(app) {
  app.converter.on('createDocument', (_, page) => {
    const text = page.content.map((part) => part.text).join('')
    const [file] = page.name.split('/').slice(-1)
    const group = Object.entries(groups).find(([, names]) =>
      names.includes(file),
    )
    page.frontmatter.group = group?.[0] ?? 'Guides'
    page.name = /^# (.+)$/m.exec(text)?.[1] ?? file
  })
  app.converter.on('createDeclaration', (_, it) => {
    if (it.kind === ReflectionKind.Module)
      it.name = importPaths[it.name] ?? `countersign/${it.name}`
  })
  app.converter.addUnknownSymbolResolver(({ symbolReference }, { project }) => {
    const [name] = symbolReference?.path ?? []
    const target = project.children
      ?.flatMap(({ children = [] }) => children)
      .find((child) => child.name === name?.path)
    return target && { target }
  })
}
