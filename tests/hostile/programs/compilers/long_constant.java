// A constant that the compiler has to double again and again.
// compile limits: memory_mb=256 wall_ms=30000
// compiles: exit | memory
class Main {
    static final String A = "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx";
    static final String B = A + A + A + A + A + A + A + A;
    static final String C = B + B + B + B + B + B + B + B;
    static final String D = C + C + C + C + C + C + C + C;
    static final String E = D + D + D + D + D + D + D + D;
    static final String F = E + E + E + E + E + E + E + E;
    static final String G = F + F + F + F + F + F + F + F;
    static final String H = G + G + G + G + G + G + G + G;
    static final String I = H + H + H + H + H + H + H + H;

    public static void main(String[] args) {
        System.out.println(I.length());
    }
}
