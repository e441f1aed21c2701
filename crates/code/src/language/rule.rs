//! The vocabulary of the tables: what a node can be, and where its parts are.

/// What a node of some kind is to us.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// A function or method: `name`, `params`, `ty` (result), `body`.
    Function,
    /// A function without a name: `params`, `body`.
    Lambda,
    /// The type of a function: `params`, `ty` (result).
    Signature,
    /// A property with code: `name`, `ty`, `body`.
    Property,
    /// A type with members: `name`, `of` (bases), `params` (of its constructor), `body`.
    Class,
    /// More members for a type declared elsewhere: `name` (the type), `of` (bases), `body`.
    Extension,
    /// A named block that only qualifies what is inside: `name`, `body`.
    Namespace,
    /// The package or namespace the whole file is in: `name`.
    Package,
    /// A call of an expression: `of` (callee), `params` (arguments).
    Call,
    /// A call of a named member: `of` (receiver, may be absent), `name`, `params`.
    Invoke,
    /// The making of an object: `ty`, `params`.
    New,
    /// A member of an object or module: `of`, `name`.
    Member,
    /// An element of a collection: `of`; in a type, its arguments.
    Index,
    /// A literal collection: its children are the elements.
    Collection,
    /// An assignment: `name` (target), `of` (value), `ty`.
    Assign,
    /// A typed declaration whose declarators are inside: `ty`.
    Declaration,
    /// A variable, constant or field: `name`, `ty`, `of` (value).
    Variable,
    /// A literal object: its pairs are members.
    Object,
    /// A named entry of a literal object: `name`, `of`.
    Pair,
    /// A parameter: `name`, `ty`, `of` (default).
    Parameter,
    /// `name` takes each element of `of` in turn.
    Loop,
    /// `name` is what entering `of` gives.
    Enter,
    /// The value of a function: `of`.
    Return,
    /// One of two values, `name` and `of`; without parts, one of all children.
    Either,
    /// As good as its part `of`: parentheses, `await`, a cast without a type.
    Through,
    /// The value `of`, seen as `ty`.
    Cast,
    /// A name.
    Identifier,
    /// A name that only a type can have.
    TypeName,
    /// A type, as good as its part `of`: nothing in it runs.
    Type,
    /// The object a method runs on.
    SelfWord,
    /// The parent's view of that object.
    SuperWord,
    /// Text; may hold interpolated code.
    Text,
    Comment,
    /// A decorator, attribute or annotation: `of`.
    Decorator,
    /// A definition with its decorators beside it.
    Decorated,
    /// An import, read by the language's own hook.
    Import,
    /// An export, read by the language's own hook.
    Export,
    /// Read by the language's own hook, then passed through.
    Special,
    /// Never looked into.
    Opaque,
}

/// Where a part of a node is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    Nowhere,
    Field(&'static str),
    /// The first named child of that kind.
    Child(&'static str),
    /// The named child at that place, not counting comments.
    Nth(u8),
    Last,
}

/// A role and its parts.
#[derive(Clone, Copy, Debug)]
pub struct Rule {
    pub role: Role,
    pub name: Part,
    pub of: Part,
    pub ty: Part,
    pub params: Part,
    pub body: Part,
}

impl Rule {
    /// A role without parts.
    pub const fn of(role: Role) -> Self {
        let nowhere = Part::Nowhere;
        Self { role, name: nowhere, of: nowhere, ty: nowhere, params: nowhere, body: nowhere }
    }

    pub const fn function() -> Self {
        Self::of(Role::Function).name("name").params("parameters").body("body")
    }

    pub const fn lambda() -> Self {
        Self::of(Role::Lambda).params("parameters").body("body")
    }

    pub const fn class() -> Self {
        Self::of(Role::Class).name("name").body("body")
    }

    /// A call of what is in `callee`, with its arguments in a field of the usual name.
    pub const fn call(callee: &'static str) -> Self {
        Self::of(Role::Call).value(callee).params("arguments")
    }

    /// A call of the member `name` of what is in `receiver`.
    pub const fn invoke(receiver: &'static str, name: &'static str) -> Self {
        Self::of(Role::Invoke).value(receiver).name(name).params("arguments")
    }

    pub const fn member(object: &'static str, name: &'static str) -> Self {
        Self::of(Role::Member).value(object).name(name)
    }

    pub const fn assign(left: &'static str, right: &'static str) -> Self {
        Self::of(Role::Assign).name(left).value(right)
    }

    pub const fn variable(name: &'static str, value: &'static str) -> Self {
        Self::of(Role::Variable).name(name).value(value)
    }

    pub const fn parameter(name: &'static str) -> Self {
        Self::of(Role::Parameter).name(name)
    }

    /// `of` is the first named child: parentheses and the like.
    pub const fn through() -> Self {
        Self::of(Role::Through).value_at(Part::Nth(0))
    }

    pub const fn returns() -> Self {
        Self::of(Role::Return).value_at(Part::Nth(0))
    }

    pub const fn name(self, field: &'static str) -> Self {
        self.name_at(Part::Field(field))
    }

    pub const fn name_at(self, part: Part) -> Self {
        Self { name: part, ..self }
    }

    pub const fn value(self, field: &'static str) -> Self {
        self.value_at(Part::Field(field))
    }

    pub const fn value_at(self, part: Part) -> Self {
        Self { of: part, ..self }
    }

    pub const fn ty(self, field: &'static str) -> Self {
        self.ty_at(Part::Field(field))
    }

    pub const fn ty_at(self, part: Part) -> Self {
        Self { ty: part, ..self }
    }

    pub const fn params(self, field: &'static str) -> Self {
        self.params_at(Part::Field(field))
    }

    pub const fn params_at(self, part: Part) -> Self {
        Self { params: part, ..self }
    }

    pub const fn body(self, field: &'static str) -> Self {
        self.body_at(Part::Field(field))
    }

    pub const fn body_at(self, part: Part) -> Self {
        Self { body: part, ..self }
    }

    /// The same parts in another role.
    pub const fn role(self, role: Role) -> Self {
        Self { role, ..self }
    }

    pub fn parts(&self) -> [Part; 5] {
        [self.name, self.of, self.ty, self.params, self.body]
    }
}
