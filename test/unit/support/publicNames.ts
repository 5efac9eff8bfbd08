import { readdirSync, readFileSync } from 'node:fs'
import ts from 'typescript'
import { entryFiles } from '../../../scripts/entryFiles.js'

/** A name with the type it belongs to: `state` at `Order.state`. */
export type PublicName = { name: string; place: string }

const sources = readdirSync('src', { recursive: true, encoding: 'utf8' })
  .filter((path) => /\.ts$/.test(path) && !/\.test\.ts$/.test(path))
  .map((path) => parse(`src/${path.replaceAll('\\', '/')}`))

function parse(file: string): ts.SourceFile {
  const text = readFileSync(file, 'utf8')
  return ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true)
}

function declarationsOf(source: ts.SourceFile): ts.NamedDeclaration[] {
  return source.statements.flatMap((statement): ts.NamedDeclaration[] =>
    ts.isVariableStatement(statement)
      ? [...statement.declarationList.declarations]
      : ts.isTypeAliasDeclaration(statement) ||
          ts.isInterfaceDeclaration(statement) ||
          ts.isFunctionDeclaration(statement) ||
          ts.isClassDeclaration(statement)
        ? [statement]
        : [],
  )
}

const nameOf = (node: ts.NamedDeclaration): string =>
  node.name && ts.isIdentifier(node.name) ? node.name.text : ''

const isExported = (node: ts.Node): boolean =>
  ts.isSourceFile(node.parent)
    ? ts.canHaveModifiers(node) &&
      !!node.modifiers?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword)
    : isExported(node.parent)

/** No two files export the same name. */
const exported = new Map(
  sources
    .flatMap(declarationsOf)
    .filter(isExported)
    .map((it) => [nameOf(it), it]),
)

function importsOf(source: ts.SourceFile): Set<string> {
  const names = source.statements.flatMap((it) =>
    ts.isImportDeclaration(it) &&
    /^'\./.test(it.moduleSpecifier.getText()) &&
    it.importClause?.namedBindings &&
    ts.isNamedImports(it.importClause.namedBindings)
      ? it.importClause.namedBindings.elements.map(({ name }) => name.text)
      : [],
  )
  return new Set(names)
}

const imported = new Map(sources.map((it) => [it.fileName, importsOf(it)]))

function find(name: string, from: ts.Node): ts.NamedDeclaration | undefined {
  const source = from.getSourceFile()
  return imported.get(source.fileName)?.has(name)
    ? exported.get(name)
    : declarationsOf(source).find((it) => nameOf(it) === name)
}

/**
 * The names that entries export, and what their types are made of, in types
 * that no entry exports too: members, and texts such as reasons.
 */
export function publicNames(): PublicName[] {
  const found: PublicName[] = []
  const seen = new Set<ts.Node>()

  function enter(node: ts.NamedDeclaration | undefined): void {
    if (!node || seen.has(node)) return
    seen.add(node)
    visit(node, nameOf(node))
  }

  function visit(node: ts.Node, place: string): void {
    // What a class is made from is not for those who catch its errors.
    if (ts.isBlock(node) || ts.isConstructorDeclaration(node)) return
    if (ts.isPropertySignature(node) || ts.isMethodSignature(node))
      found.push({ name: nameOf(node), place: `${place}.${nameOf(node)}` })
    if (ts.isLiteralTypeNode(node) && ts.isStringLiteral(node.literal)) {
      const { text } = node.literal
      found.push({ name: text, place: `${place} '${text}'` })
    }
    if (ts.isTypeReferenceNode(node)) enter(find(node.typeName.getText(), node))
    if (ts.isTypeQueryNode(node)) enter(find(node.exprName.getText(), node))
    if (ts.isExpressionWithTypeArguments(node))
      enter(find(node.expression.getText(), node))
    ts.forEachChild(node, (child) => visit(child, place))
  }

  for (const file of Object.values(entryFiles))
    for (const it of parse(file).statements)
      if (ts.isExportDeclaration(it) && it.exportClause)
        ts.forEachChild(it.exportClause, (specifier) => {
          const [declared = '', name = declared] = specifier
            .getText()
            .replace('type ', '')
            .split(' as ')
          found.push({ name, place: name })
          enter(exported.get(declared))
        })
  return found
}
